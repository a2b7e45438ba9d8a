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
import { INSTRUCTIONS } from './instructions.ts'
import { memoryTools } from './memory-tools.ts'
import { proofTools } from './proof-tools.ts'
import { resourcePage } from './resource-list.ts'
import { completionsOf, contentsOf, RESOURCE_TEMPLATES } from './resources.ts'
import { sessionTools } from './session-tools.ts'
import { reasonOf, type Tool, type ToolDeps } from './tool.ts'
import { placeOf } from './uris.ts'

/** All tools. None approves, verifies, sets a state, resolves, abandons or deletes. */
export const TOOLS: readonly Tool[] = [...caseTools, ...sessionTools, ...proofTools, ...memoryTools]

const MOST_COMPLETIONS = 100

export interface ServerDeps extends ToolDeps {
  version: string
  /** The version of the protocol: `legacy` begins with `initialize`. */
  era: 'legacy' | 'modern'
  known: KnownFiles
}

export interface CasefileServer {
  mcp: McpServer
  /** Notifies the client, if it has subscribed to a changed resource. */
  notify(change: Change): void
  /** The name of the client, for the history of a case. */
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

  /** Reports errors as errors of the protocol: only tools have results for errors. */
  async function asked<T>(uri: string | null, work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (error) {
      if (error instanceof ProtocolError) throw error
      const reason = reasonOf(error, log)
      const code = error instanceof AppError ? error.code : 'internal'
      if (uri !== null && (code === 'not_found' || code === 'invalid_filename')) {
        throw new ResourceNotFoundError(uri, reason)
      }
      const isTheirs = code === 'bad_request' || code === 'not_found'
      throw new ProtocolError(
        isTheirs ? ProtocolErrorCode.InvalidParams : ProtocolErrorCode.InternalError,
        reason,
      )
    }
  }

  function mustBePlace(uri: string) {
    const place = placeOf(uri)
    if (place) return place
    const forms = RESOURCE_TEMPLATES.map(({ uriTemplate }) => uriTemplate).join(', ')
    throw new ResourceNotFoundError(
      uri,
      `${JSON.stringify(uri.slice(0, 200))} is not a resource of casefile. Expected casefile://cases or one of ${forms}, with ids as resources/list has them.`,
    )
  }

  server.setRequestHandler('resources/list', ({ params }) =>
    asked(null, async () => {
      const page = await access.read((client) => resourcePage(client, params?.cursor))
      for (const { uri } of page.resources) known.add(uri)
      return page
    }),
  )
  server.setRequestHandler('resources/templates/list', () => ({
    resourceTemplates: RESOURCE_TEMPLATES,
  }))
  server.setRequestHandler('resources/read', ({ params: { uri } }) =>
    asked(uri, async () => {
      const place = mustBePlace(uri)
      return { contents: await access.read((client) => contentsOf(client, uri, place)) }
    }),
  )
  server.setRequestHandler('resources/subscribe', ({ params: { uri } }) => {
    mustBePlace(uri)
    subscribed.add(uri)
    return {}
  })
  server.setRequestHandler('resources/unsubscribe', ({ params: { uri } }) => {
    subscribed.delete(uri)
    return {}
  })
  server.setRequestHandler('completion/complete', ({ params: { ref, argument, context } }) =>
    asked(null, async () => {
      if (ref.type !== 'ref/resource') return { completion: { values: [] } }
      const all = await access.read((client) =>
        completionsOf(client, ref.uri, argument, context?.arguments ?? {}),
      )
      const values = all.slice(0, MOST_COMPLETIONS)
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
      const wanted = uris === 'all' ? all : uris
      for (const uri of wanted) {
        if (era === 'modern' || subscribed.has(uri)) void server.sendResourceUpdated({ uri })
      }
    },
  }
}
