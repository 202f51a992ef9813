import { existsSync } from 'node:fs';
import { resolve } from 'node:path';

import { defineConfig } from 'vitest/config';

const tests = resolve(__dirname, 'tests/labextension');
const setup = resolve(tests, 'setup.ts');

export default defineConfig({
  // Plotly draws on a canvas that jsdom has not; a mock inside a test file does not reach a dynamic import.
  resolve: {
    alias: { 'plotly.js-basic-dist-min': resolve(tests, 'plotly.ts') }
  },
  test: {
    environment: 'jsdom',
    include: ['tests/labextension/**/*.spec.{ts,tsx}'],
    setupFiles: existsSync(setup) ? [setup] : [],
    passWithNoTests: true,
    css: false,
    pool: 'forks',
    poolOptions: { forks: { maxForks: 2 } },
    server: { deps: { inline: [/@jupyterlab/, /@jupyter\//, /@lumino/, /@microsoft/] } },
    testTimeout: 20000
  }
});
