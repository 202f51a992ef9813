/** The mark of STC: one wide line that becomes three narrow ones, as a step becomes kernels. */
import { LabIcon } from '@jupyterlab/ui-components';

const SVG = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24" width="16" height="16">
  <g class="jp-icon3" fill="none" stroke="#616161" stroke-width="2.2" stroke-linecap="round" stroke-linejoin="round">
    <path d="M3 12h6"/><path d="M9 12c4 0 3-7 7-7h5"/><path d="M9 12h12"/><path d="M9 12c4 0 3 7 7 7h5"/>
  </g>
</svg>`;

export const stcIcon = new LabIcon({ name: 'jupyterlab-stc:icon', svgstr: SVG });
