// TypeScript types of the records, from the JSON Schema that Python exports. `--check` fails where they are stale.
import { readFile, writeFile, mkdir } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

import { compile } from 'json-schema-to-typescript';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');
const source = resolve(root, 'python_pkg/stc/record/schema.json');
const target = resolve(root, 'labextension/src/generated/records.ts');

// The generator knows definitions by their older name, and wants an object at the root.
const { $defs } = JSON.parse((await readFile(source, 'utf8')).replaceAll('"#/$defs/', '"#/definitions/'));
const schema = { title: 'Records', type: 'object', additionalProperties: false, definitions: $defs };

const text = await compile(schema, 'Records', {
  additionalProperties: false,
  bannerComment: '// Written by `jlpm types:generate` from python_pkg/stc/record/schema.json. Do not edit.',
  ignoreMinAndMaxItems: true,
  style: { singleQuote: true, trailingComma: 'none', printWidth: 110 },
  unreachableDefinitions: true
});

if (process.argv.includes('--check')) {
  const present = await readFile(target, 'utf8').catch(() => '');
  if (present !== text) {
    console.error('labextension/src/generated/records.ts is stale: run `jlpm types:generate` and commit it.');
    process.exit(1);
  }
} else {
  await mkdir(dirname(target), { recursive: true });
  await writeFile(target, text);
}
