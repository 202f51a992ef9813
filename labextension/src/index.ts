import { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';

const plugin: JupyterFrontEndPlugin<void> = {
  id: 'jupyterlab-stc:plugin',
  description: 'Shows what the training compiler did.',
  autoStart: true,
  activate: (app: JupyterFrontEnd) => {
    void app;
  }
};

export default plugin;
