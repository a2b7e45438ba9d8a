import type { Resource } from '@modelcontextprotocol/server'
import type { ApiReader } from '../../client/client.ts'
import type { TriageRowJson } from '../../http/schemas/case.ts'
import type { MemoryFileJson } from '../../http/schemas/memory.ts'
import { AppError } from '../../model/app-error.ts'
import { visibleText } from '../../model/visible-text.ts'
import { proofsOf } from '../resolve/proof.ts'
import { sessionsOf } from '../resolve/session.ts'
import { CASES_URI, caseUri, memoryUri, proofUri, sessionUri } from './uris.ts'

/** How many cases a page has, each with all its resources. */
const CASES_A_PAGE = 20

const JSON_TYPE = 'application/json'
const MARKDOWN = 'text/markdown'

/** A page of all resources, newest cases first. The cursor is the last case of the page before. */
export async function resourcePage(
  client: ApiReader,
  cursor: string | undefined,
): Promise<{ resources: Resource[]; nextCursor?: string }> {
  const { body } = await client.request('GET', '/triage')
  const cases = (body as TriageRowJson[]).sort(byCreation)
  const before = cursor === undefined ? -1 : cases.findIndex(({ id }) => id === cursor)
  if (cursor !== undefined && before === -1) {
    throw new AppError('bad_request', 'That cursor is no longer valid. List again from the start.')
  }
  const page = cases.slice(before + 1, before + 1 + CASES_A_PAGE)
  const parts = await Promise.all(page.map((each) => resourcesOf(client, each)))
  const last = page.at(-1)
  const isLast = last === undefined || last === cases.at(-1)
  return {
    resources: [...(cursor === undefined ? [ALL_CASES] : []), ...parts.flat()],
    ...(isLast ? {} : { nextCursor: last.id }),
  }
}

const ALL_CASES: Resource = {
  uri: CASES_URI,
  name: 'cases',
  title: 'All cases',
  description: 'The cases; those that need the operator come first',
  mimeType: JSON_TYPE,
}

async function resourcesOf(client: ApiReader, found: TriageRowJson): Promise<Resource[]> {
  const { id } = found
  try {
    const [sessions, proofs, memory] = await Promise.all([
      found.sessions === 0 ? [] : sessionsOf(client, id),
      proofsOf(client, id),
      client.request('GET', `/cases/${id}/memory`).then(({ body }): MemoryFileJson[] => body),
    ])
    const name = visibleText(found.title)
    return [
      {
        uri: caseUri(id),
        name,
        title: name,
        mimeType: JSON_TYPE,
        description: `${found.state}. The case, its gate, sessions, proofs and memory files`,
        annotations: { lastModified: found.updated_at },
      },
      ...sessions.map(({ id: sid, number, type, state, updated_at }) => ({
        uri: sessionUri(id, sid),
        name: `session ${number}`,
        mimeType: JSON_TYPE,
        title: `${name}: session ${number}, ${type}, ${state}`,
        annotations: { lastModified: updated_at },
      })),
      ...proofs.map(({ id: pid, type, verified, supports, verified_at, created_at }) => ({
        uri: proofUri(id, pid),
        name: `proof ${pid.slice(0, 8)}`,
        mimeType: JSON_TYPE,
        title: `${name}: ${type}, ${verified ? 'verified' : 'not verified'}${supports ? '' : ', supports nothing'}`,
        annotations: { lastModified: verified_at ?? created_at },
      })),
      ...memory.map(({ filename, size, updated_at }) => ({
        uri: memoryUri(id, filename),
        name: filename,
        mimeType: MARKDOWN,
        size,
        title: `${name}: ${filename}`,
        annotations: { lastModified: updated_at },
      })),
    ]
  } catch (error) {
    if (error instanceof AppError && error.code === 'not_found') return [] // deleted meanwhile
    throw error
  }
}

function byCreation(a: TriageRowJson, b: TriageRowJson): number {
  return a.created_at === b.created_at
    ? a.id.localeCompare(b.id)
    : b.created_at.localeCompare(a.created_at)
}
