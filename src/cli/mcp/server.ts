import {
  McpServer,
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
} from '@modelcontextprotocol/server'
import { MAX_WHO } from '../../markdown/history-file.ts'
import { AppError } from '../../model/app-error.ts'
import { oneLine } from '../../model/one-line.ts'
import { caseTools } from './case-tools.ts'
import { commentTools } from './comment-tools.ts'
import { INSTRUCTIONS } from './instructions.ts'
import { memoryTools } from './memory-tools.ts'
import { proofTools } from './proof-tools.ts'
import { ALL_CASES, RESOURCE_TEMPLATES, readContents } from './resources.ts'
import { sessionTools } from './session-tools.ts'
import { errorReason, type Tool, type ToolDeps } from './tool.ts'
import { parseUri } from './uris.ts'

/** All tools. None approves, verifies, sets a state, comments, resolves, abandons or deletes. */
export const TOOLS: readonly Tool[] = [
  ...caseTools,
  ...sessionTools,
  ...commentTools,
  ...proofTools,
  ...memoryTools,
]

export interface ServerDeps extends ToolDeps {
  version: string
}

export interface CasefileServer {
  mcp: McpServer
  /** The name of the connected client, for the history of a case; undefined before it is known. */
  agent(): string | undefined
}

export function casefileServer(deps: ServerDeps): CasefileServer {
  const { access, log, version } = deps
  const about = { name: 'casefile', title: 'Casefile', version }
  const mcp = new McpServer(about, {
    instructions: INSTRUCTIONS,
    capabilities: {
      tools: { listChanged: false },
      resources: { subscribe: false, listChanged: false },
    },
  })
  for (const each of TOOLS) each.register(mcp, deps)
  const { server } = mcp

  /** Converts errors of `work` to errors of the protocol, because only tools have results for errors. */
  async function withProtocolErrors<T>(uri: string, work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (error) {
      if (error instanceof ProtocolError) throw error
      const reason = errorReason(error, log)
      const code = error instanceof AppError ? error.code : 'internal'
      if (code === 'not_found' || code === 'invalid_filename') {
        throw new ResourceNotFoundError(uri, reason)
      }
      throw new ProtocolError(
        ProtocolErrorCode[code === 'bad_request' ? 'InvalidParams' : 'InternalError'],
        reason,
      )
    }
  }

  /** Parses the URI of a resource; throws if it is not one. */
  function requireResource(uri: string) {
    const resource = parseUri(uri)
    if (resource) return resource
    const forms = RESOURCE_TEMPLATES.map(({ uriTemplate }) => uriTemplate).join(', ')
    throw new ResourceNotFoundError(
      uri,
      `${JSON.stringify(uri.slice(0, 200))} is not a resource of casefile. Expected casefile://cases or one of ${forms}, with the uri that a tool gives.`,
    )
  }

  server.setRequestHandler('resources/list', () => ({ resources: [ALL_CASES] }))
  server.setRequestHandler('resources/templates/list', () => ({
    resourceTemplates: RESOURCE_TEMPLATES,
  }))
  server.setRequestHandler('resources/read', ({ params: { uri } }) =>
    withProtocolErrors(uri, async () => {
      const resource = requireResource(uri)
      return { contents: await access.read((client) => readContents(client, uri, resource)) }
    }),
  )

  return {
    mcp,
    agent: () => oneLine(server.getClientVersion()?.name ?? '').slice(0, MAX_WHO) || undefined,
  }
}
