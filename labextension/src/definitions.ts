/** What each number means, from the table that also makes docs/metrics.md. */
import table from './definitions.json';

export interface IDefinition {
  label: string;
  definition: string;
  unit: string;
  source: string;
  window: string;
}

const DEFINITIONS: Readonly<Record<string, IDefinition>> = table;

export function definition(name: string): IDefinition | null {
  return Object.prototype.hasOwnProperty.call(DEFINITIONS, name) ? DEFINITIONS[name] : null;
}
