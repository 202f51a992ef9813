/** Plotly's basic bundle has the types of the whole. */
declare module 'plotly.js-basic-dist-min' {
  const Plotly: typeof import('plotly.js');
  export default Plotly;
}
