import {
  McpServer,
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
} from '@modelcontextprotocol/server'
import { MAX_WHO, oneLine } from '../../markdown/history-file.ts'
import { AppError } from '../../model/app-error.ts'
import { caseTools } from './case-tools.ts'
import type { Change, KnownFiles } from './changes.ts'
import { commentTools } from './comment-tools.ts'
import { INSTRUCTIONS } from './instructions.ts'
import { memoryTools } from './memory-tools.ts'
import { proofTools } from './proof-tools.ts'
import { resourcePage } from './resource-list.ts'
import { completeArgument, RESOURCE_TEMPLATES, readContents } from './resources.ts'
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

const MAX_COMPLETIONS = 100

export interface ServerDeps extends ToolDeps {
  version: string
  /** The version of the protocol: `legacy` begins with `initialize`. */
  era: 'legacy' | 'modern'
  /** The resources that the client has seen in lists. */
  known: KnownFiles
}

export interface CasefileServer {
  mcp: McpServer
  /** Notifies the client, if it has subscribed to a changed resource. */
  notify(change: Change): void
  /** The name of the connected client, for the history of a case; undefined before it is known. */
  agent(): string | undefined
}

export function casefileServer(deps: ServerDeps): CasefileServer {
  const { access, log, version, era, known } = deps
  const about = { name: 'casefile', title: 'Casefile', version }
  const mcp = new McpServer(about, {
    instructions: INSTRUCTIONS,
    capabilities: {
      tools: { listChanged: false },
      resources: { subscribe: true, listChanged: true },
      completions: {},
    },
  })
  for (const each of TOOLS) each.register(mcp, deps)
  const { server } = mcp
  const subscribed = new Set<string>()

  /** Converts errors of `work` to errors of the protocol, because only tools have results for errors. */
  async function withProtocolErrors<T>(uri: string | null, work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (error) {
      if (error instanceof ProtocolError) throw error
      const reason = errorReason(error, log)
      const code = error instanceof AppError ? error.code : 'internal'
      if (uri !== null && (code === 'not_found' || code === 'invalid_filename')) {
        throw new ResourceNotFoundError(uri, reason)
      }
      const isClientError = code === 'bad_request' || code === 'not_found'
      throw new ProtocolError(
        isClientError ? ProtocolErrorCode.InvalidParams : ProtocolErrorCode.InternalError,
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
      `${JSON.stringify(uri.slice(0, 200))} is not a resource of casefile. Expected casefile://cases or one of ${forms}, with ids as resources/list has them.`,
    )
  }

  server.setRequestHandler('resources/list', ({ params }) =>
    withProtocolErrors(null, async () => {
      const page = await access.read((client) => resourcePage(client, params?.cursor))
      for (const { uri } of page.resources) known.add(uri)
      return page
    }),
  )
  server.setRequestHandler('resources/templates/list', () => ({
    resourceTemplates: RESOURCE_TEMPLATES,
  }))
  server.setRequestHandler('resources/read', ({ params: { uri } }) =>
    withProtocolErrors(uri, async () => {
      const resource = requireResource(uri)
      return { contents: await access.read((client) => readContents(client, uri, resource)) }
    }),
  )
  server.setRequestHandler('resources/subscribe', ({ params: { uri } }) => {
    requireResource(uri)
    subscribed.add(uri)
    return {}
  })
  server.setRequestHandler('resources/unsubscribe', ({ params: { uri } }) => {
    subscribed.delete(uri)
    return {}
  })
  server.setRequestHandler('completion/complete', ({ params: { ref, argument, context } }) =>
    withProtocolErrors(null, async () => {
      if (ref.type !== 'ref/resource') return { completion: { values: [] } }
      const all = await access.read((client) =>
        completeArgument(client, ref.uri, argument, context?.arguments ?? {}),
      )
      const values = all.slice(0, MAX_COMPLETIONS)
      const total = all.length
      return { completion: { values, total, hasMore: values.length < total } }
    }),
  )

  return {
    mcp,
    agent: () => oneLine(server.getClientVersion()?.name ?? '').slice(0, MAX_WHO) || undefined,
    notify({ uris, list }) {
      if (!mcp.isConnected()) return
      if (list) mcp.sendResourceListChanged()
      // in the newer protocol the connection knows who has subscribed to which resource
      const all = era === 'modern' ? known : subscribed
      const changedUris = uris === 'all' ? all : uris
      for (const uri of changedUris) {
        if (era === 'modern' || subscribed.has(uri)) void server.sendResourceUpdated({ uri })
      }
    },
  }
}
