/** The version this panel was built as; package.json is its only source. */

// The bundler puts the file's content here; TypeScript's rootDir does not reach it by `import`.
declare const require: (path: string) => { version: string };

export const PANEL_VERSION: string = require('../../package.json').version;
