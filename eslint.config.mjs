import js from '@eslint/js';
import hooks from 'eslint-plugin-react-hooks';
import globals from 'globals';
import ts from 'typescript-eslint';

export default ts.config(
  {
    ignores: [
      '**/node_modules/**',
      'labextension/lib/**',
      'labextension/src/generated/**',
      'extension/**',
      'dist/**'
    ]
  },
  js.configs.recommended,
  ...ts.configs.strict,
  {
    files: ['labextension/src/**/*.{ts,tsx}', 'tests/labextension/**/*.{ts,tsx}'],
    plugins: { 'react-hooks': hooks },
    languageOptions: { globals: globals.browser },
    rules: {
      ...hooks.configs.recommended.rules,
      '@typescript-eslint/naming-convention': [
        'error',
        { selector: 'interface', format: ['PascalCase'], custom: { regex: '^I[A-Z]', match: true } }
      ],
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/no-unused-vars': ['error', { args: 'none' }],
      // A Lumino token and its interface share one name on purpose.
      '@typescript-eslint/no-redeclare': 'off',
      curly: ['error', 'all'],
      eqeqeq: 'error',
      'no-restricted-globals': [
        'error',
        {
          name: 'fetch',
          message: 'Use ServerConnection.makeRequest: it knows the base URL, the token and XSRF.'
        }
      ],
      'prefer-arrow-callback': 'error'
    }
  },
  {
    files: ['tests/labextension/**/*.{ts,tsx}'],
    rules: {
      '@typescript-eslint/no-non-null-assertion': 'off',
      '@typescript-eslint/naming-convention': 'off'
    }
  },
  { files: ['**/*.mjs', '*.config.ts'], languageOptions: { globals: globals.node } }
);
