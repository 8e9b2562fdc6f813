/**
 * The operations as MCP tools, without any protocol revision in it: what a principal sees, and one call.
 * The adapters for stdio and HTTP stand on this.
 */

import type { CallToolResult, Tool } from '@modelcontextprotocol/sdk/types.js';
import type { Actor, Log, Toolset } from '../context.js';
import { contractOf } from '../contract.js';
import { asServiceError, ServiceError } from '../errors.js';
import type { Caller, GroupedOperation, Invoke } from '../operation.js';
import { closestNames } from './closest.js';

export interface RegistryParts {
  operations: readonly GroupedOperation[];
  invoke: Invoke;
  log: Log;
  readOnly: boolean;
  toolsets: readonly Toolset[];
}

export interface ToolRegistry {
  /** Tools the principal may call, rendered once per set of rights. Always the same order. */
  listTools(actor: Actor): Tool[];
  /** Runs a tool by its name or by the operation's id. Failures are answers with `isError`, never rejections. */
  callTool(name: string, args: unknown, caller: Caller): Promise<CallToolResult>;
}

export function createToolRegistry(parts: RegistryParts): ToolRegistry {
  const { operations, invoke, log } = parts;
  const byName = new Map<string, GroupedOperation>();
  for (const operation of operations) {
    byName.set(contractOf(operation).tool, operation);
    byName.set(operation.id, operation);
  }
  const lists = new Map<string, Tool[]>();

  function isOffered(operation: GroupedOperation): boolean {
    return parts.toolsets.includes(operation.group) && !(parts.readOnly && operation.effect !== 'read');
  }

  function isVisible(operation: GroupedOperation, actor: Actor): boolean {
    return isOffered(operation) && actor.rights.includes(operation.effect === 'read' ? 'read' : 'write');
  }

  function find(name: string, actor: Actor): GroupedOperation {
    const operation = byName.get(name);
    if (operation === undefined) {
      const visible = operations.filter((candidate) => isVisible(candidate, actor));
      throw unknownTool(
        name,
        closestNames(
          name,
          visible.map((candidate) => contractOf(candidate).tool),
        ),
      );
    }
    if (!isVisible(operation, actor)) throw notOffered(name, operation, parts);
    return operation;
  }

  return {
    listTools(actor) {
      const key = [...actor.rights].sort().join();
      const known = lists.get(key);
      if (known !== undefined) return known;
      const tools = operations.filter((operation) => isVisible(operation, actor)).map(toolOf);
      lists.set(key, tools);
      return tools;
    },

    async callTool(name, args, caller) {
      try {
        const operation = find(name, caller.actor);
        const answer = await invoke(operation, args ?? {}, caller);
        // Clients differ in which of the two they show to the model, so both say the same.
        return { content: [{ type: 'text', text: JSON.stringify(answer) }], structuredContent: answer };
      } catch (error) {
        const known = asServiceError(error);
        if (known.status >= 500) {
          log.error({ err: known.cause ?? known, request_id: caller.request_id, tool: name }, 'tool call failed');
        }
        return { isError: true, content: [{ type: 'text', text: errorText(known) }] };
      }
    },
  };
}

/** One operation as a tool. Every hint is derived from its effect. */
function toolOf(operation: GroupedOperation): Tool {
  const contract = contractOf(operation);
  const { readonly, destructive, idempotent, instructions } = contract.annotations;
  return {
    name: contract.tool,
    title: contract.title,
    description: instructions === '' ? contract.description : `${contract.description} ${instructions}`,
    inputSchema: contract.input_schema as Tool['inputSchema'],
    outputSchema: contract.output_schema as Tool['outputSchema'] & object,
    annotations: {
      title: contract.title,
      readOnlyHint: readonly,
      destructiveHint: destructive,
      idempotentHint: idempotent,
      openWorldHint: reachesOut(operation),
    },
    _meta: { 'sitefleet/operation': contract.id },
  };
}

/** Whether it may contact sites: records of clients, tags and jobs stay in our own store. */
function reachesOut(operation: GroupedOperation): boolean {
  return operation.engine && (operation.group === 'sites' || operation.group === 'updates');
}

/** Everything a model needs to go on: of a failed call clients show it only the text. */
export function errorText(error: ServiceError): string {
  const lines = [`${error.code}: ${error.message}`];
  if (error.field !== undefined && error.field !== '') lines.push(`Field: ${error.field}`);
  if (error.advice !== undefined && error.advice !== '') lines.push(`Next step: ${error.advice}`);
  if (Object.keys(error.data).length > 0) lines.push(`Details: ${JSON.stringify(error.data)}`);
  return lines.join('\n');
}

function unknownTool(name: string, closest: readonly string[]): ServiceError {
  return new ServiceError('rest_ability_not_found', `There is no tool ${JSON.stringify(name.slice(0, 100))}.`, {
    advice: closest.length === 0 ? 'tools/list shows all tools.' : `Did you mean ${closest.join(' or ')}?`,
  });
}

/** Says why a tool is hidden: an assistant that knows can tell its user what to change. */
function notOffered(name: string, operation: GroupedOperation, parts: RegistryParts): ServiceError {
  if (!parts.toolsets.includes(operation.group)) {
    return new ServiceError('svc_permission_denied', `The tool ${name} belongs to a group that is switched off here.`, {
      advice: `The operator can add "${operation.group}" to SITEFLEET_TOOLSETS.`,
    });
  }
  if (parts.readOnly && operation.effect !== 'read') {
    return new ServiceError(
      'svc_permission_denied',
      'This server is read-only, so nothing can be changed through it.',
      {
        advice: 'Ask the operator to unset SITEFLEET_READ_ONLY.',
      },
    );
  }
  const needed = operation.effect === 'read' ? 'read' : 'write';
  return new ServiceError('svc_permission_denied', `This login lacks the right to ${needed}.`, {
    advice: `Use a login or key with the ${needed} permission.`,
  });
}
