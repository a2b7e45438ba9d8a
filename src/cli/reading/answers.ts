import type { Asking } from '../../client/client.ts'
import { caseHistory } from '../../http/case-history.ts'
import { memoryBytes } from '../../http/memory-bytes.ts'
import { checkQuery, TRIAGE_FILTERS } from '../../http/middleware/known-query.ts'
import { newestFirst } from '../../http/pagination.ts'
import {
  caseJson,
  serializeProof,
  serializeProofHead,
  serializeSession,
} from '../../http/serializers.ts'
import { triageFilters } from '../../http/triage.ts'
import { type CaseFolder, gateOf, proofOf, sessionOf } from '../../model/case-folder.ts'
import { Refusal } from '../../model/refusal.ts'
import { UUID } from '../../model/words.ts'
import { listMemory } from '../../workspace/memory-files.ts'
import type { Files } from './files.ts'

/** What commands ask of one case, and how it is answered. */
const OF_CASE: Record<
  string,
  (files: Files, folder: CaseFolder, query: URLSearchParams) => unknown
> = {
  '': caseJson,
  '/gate': (_, folder) => gateOf(folder),
  '/sessions': (files, folder) =>
    Promise.all(
      folder.sessions
        .map((session) => ({ id: session.id, created_at: session.started_at, session }))
        .sort(newestFirst)
        .map(({ session }) => serializeSession(files, folder, session)),
    ),
  '/proof': (files, folder, query) => {
    const all = [...folder.proofs].sort(newestFirst)
    return query.get('content') === 'false'
      ? all.map((proof) => serializeProofHead(folder, proof))
      : Promise.all(all.map((proof) => serializeProof(files, folder, proof)))
  },
  '/history': (files, folder) => caseHistory(files, folder),
  '/memory': ({ layout }, folder) => listMemory(layout, folder),
}

/** What agents ask of it by name as well. */
const PART_OF_CASE: Record<string, (files: Files, folder: CaseFolder, name: string) => unknown> = {
  sessions: (files, folder, id) => serializeSession(files, folder, sessionOf(folder, id)),
  proof: (files, folder, id) => serializeProof(files, folder, proofOf(folder, id)),
  memory: async ({ layout }, folder, filename) =>
    new TextDecoder().decode(await memoryBytes(layout, folder, filename)),
}

/** Answers as a service would that has just read the files. */
export function answering(files: Files): Asking {
  const known = new Map<string, Promise<void>>()

  async function folderOf(id: string): Promise<CaseFolder> {
    if (!known.has(id)) known.set(id, files.read(id))
    await known.get(id)
    const folder = files.catalog.folder(id)
    if (folder) return folder
    throw new Refusal('not_found', `There is no case ${id}.`)
  }

  async function answer(path: string, query: URLSearchParams): Promise<unknown> {
    if (path === '/triage') {
      const { catalog, lists, readAll } = files
      checkQuery(
        [...query].map(([name, value]) => [name, [value]] as const),
        TRIAGE_FILTERS,
      )
      const service = { catalog, synchronizer: { freshenAll: readAll } }
      const filters = await triageFilters(service, (name) => query.get(name) ?? undefined)
      return lists.triage(filters, null, null).map(({ summary }) => JSON.parse(summary))
    }
    if (path === '/cases') {
      await files.readAll()
      return JSON.parse(files.catalog.listJson().toString())
    }
    const [, id = '', rest = ''] = /^\/cases\/([^/]+)(.*)$/.exec(path) ?? []
    const ofCase = UUID.test(id) ? OF_CASE[rest] : undefined
    if (ofCase) return ofCase(files, await folderOf(id), query)
    const [, kind = '', name = ''] = /^\/(\w+)\/([^/]+)$/.exec(rest) ?? []
    const part = UUID.test(id) ? PART_OF_CASE[kind] : undefined
    if (part) return part(files, await folderOf(id), decodeURIComponent(name))
    throw new Error(`no command that only reads asks for ${path}`)
  }

  return {
    async bytesOf(path) {
      const [, id = '', filename = ''] = /^\/cases\/([^/]+)\/memory\/([^/]+)$/.exec(path) ?? []
      return memoryBytes(files.layout, await folderOf(id), decodeURIComponent(filename))
    },
    async ask(_method, address) {
      const { pathname, searchParams } = new URL(address, 'http://localhost')
      return { body: await answer(pathname, searchParams) }
    },
  }
}
