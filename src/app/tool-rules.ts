/** Resolves the operator's lists of single tools to operations. */

import type { GroupedOperation } from '../operation/operation.js';
import { closestNames } from '../runtime/closest-names.js';
import { ConfigError } from '../runtime/config/config.js';
import type { Config } from '../runtime/config/types.js';

/**
 * Ids of the operations that are offered exclusively over MCP, and of those that are never offered.
 * @throws ConfigError for a name that matches no operation: a block that matches nothing would block nothing
 */
export function toolRules(
  { tools_allow, tools_block }: Pick<Config, 'tools_allow' | 'tools_block'>,
  operations: readonly GroupedOperation[],
): { allow: string[]; block: string[] } {
  const short = (name: string) => name.replace(/^svc[/-]/, '').replace(/-v1$/, '');
  const ids = new Map(operations.map(({ id }) => [short(id), id]));
  const idsOf = (names: readonly string[], variable: string) =>
    names.map((name) => {
      const id = ids.get(short(name));
      if (id !== undefined) return id;
      const near = closestNames(name, [...ids.keys()]);
      const advice =
        near.length === 0 ? 'Names are those of the tools, such as list-sites.' : `Did you mean ${near.join(' or ')}?`;
      throw new ConfigError([{ name: variable, message: `there is no tool "${name}". ${advice}` }]);
    });
  return {
    allow: idsOf(tools_allow, 'SITEFLEET_TOOLS_ALLOW'),
    block: idsOf(tools_block, 'SITEFLEET_TOOLS_BLOCK'),
  };
}
