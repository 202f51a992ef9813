/** What each number means. That every figure on screen has a definition is specified with the views. */
import { describe, expect, test } from 'vitest';

import { definition } from '../../labextension/src/definitions';
import table from '../../labextension/src/definitions.json';

describe('definitions', () => {
  test('given a known name, then it has a label, a definition, a window and a source', () => {
    expect(definition('steps.speedup.ratio')).toMatchObject({ label: 'Speed-up', unit: '×' });
  });

  test.each(Object.keys(table))('given %s, then nothing of its definition is left open', name => {
    const known = definition(name);
    expect(known?.label).toBeTruthy();
    expect(known?.definition).toMatch(/\.$/);
    expect(known?.window).toBeTruthy();
    expect(known?.source).toBeTruthy();
  });

  test.each(['steps.unheard.of', '', 'toString', '__proto__'])(
    'given the unknown name "%s", then null',
    name => {
      expect(definition(name)).toBeNull();
    }
  );
});
