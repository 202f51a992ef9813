/** Stands in for Plotly, which needs a canvas: keeps what it was asked to draw. */
export const drawn: unknown[][] = [];

const Plotly = {
  newPlot: async (...args: unknown[]): Promise<void> => void drawn.push(args),
  react: async (...args: unknown[]): Promise<void> => void drawn.push(args),
  purge: (): void => undefined,
  Plots: { resize: (): void => undefined }
};

export default Plotly;
