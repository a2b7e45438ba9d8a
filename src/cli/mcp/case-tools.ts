import * as z from 'zod'
import type { ApiReader } from '../../client/client.ts'
import type { MemoryFileJson } from '../../http/schemas/memory.ts'
import type { ProofHeadJson } from '../../http/schemas/proof.ts'
import type { FoundCaseJson } from '../../http/schemas/search.ts'
import type { SessionHeadJson } from '../../http/schemas/session.ts'
import { ATTENTION_KINDS } from '../../model/attention.ts'
import { FILTERED, type FilterName } from '../../model/case-fields.ts'
import { caseArgument, caseIn } from './arguments.ts'
import { statusShape, statusView } from './status-view.ts'
import { type Outcome, row, type Tool, tool } from './tool.ts'
import { rowRange, rowsAt, rowsOf, rowsShape, withCutTexts } from './truncate.ts'
import { caseUri } from './uris.ts'
import { memoryRow, proofRow, sessionRow } from './views.ts'

/** How many sessions and proofs the answer for a case includes. */
const WITH_CASE = 10

const filters = Object.fromEntries(
  FILTERED.map(({ filter, known, values, example }) => {
    const only = known ? `${known.join(', ')}, or another word` : `such as ${example}`
    const words = values ? values.join(', ') : only
    const text = `Only cases with this ${filter}. Several can be separated by commas: ${words}`
    return [filter, z.string().optional().describe(text)]
  }),
) as Record<FilterName, z.ZodOptional<z.ZodString>>

const caseRow = row({
  id: z.string(),
  title: z.string(),
  type: z.string(),
  state: z.string(),
  uri: z.string(),
})

export const caseTools: readonly Tool[] = [
  tool({
    name: 'list_cases',
    title: 'List cases',
    does: 'reads',
    description:
      'Lists cases. Cases that need the operator come first. Each has its state, what it needs, the number of its sessions, and whether its proof gate is open.',
    input: {
      ...filters,
      needs: z
        .string()
        .optional()
        .describe(
          `Only cases that need this from the operator: any, or ${ATTENTION_KINDS.join(', ')}`,
        ),
      ...rowRange,
    },
    output: { cases: z.array(caseRow), ...rowsShape },
    run: (access, { offset, limit, ...query }) =>
      access.read(async (client) => {
        const path = `/triage?${queryOf(query)}`
        const { items, ...range } = await rowsAt<{ id: string }>(client, path, { offset, limit })
        return { structured: { cases: items.map(withUri), ...range } }
      }),
  }),
  tool({
    name: 'search_cases',
    title: 'Search cases',
    does: 'reads',
    description:
      'Searches the text of all cases: descriptions, memory files, sessions and proof. The best match comes first, each with its matching lines. Beginnings of words match too. Search here before you begin: the problem may be known.',
    input: {
      query: z
        .string()
        .min(1)
        .max(1000)
        .describe(
          'Words, phrases in "quotation marks", and filters such as state:RESOLVED, type:bug, tag:auth, outcome:Duplicate',
        ),
      ...filters,
      limit: z.number().int().min(1).max(100).default(20).describe('Maximum number of cases'),
    },
    output: {
      cases: z.array(
        caseRow.extend({
          lines: z.array(row({ file: z.string(), line: z.number(), text: z.string() })),
          missing: z.array(z.string()).describe('Words of the query that the case does not have'),
        }),
      ),
    },
    run: (access, { query, limit, ...rest }) =>
      access.read((client) => found(client, { ...rest, q: query, limit: String(limit) })),
  }),
  tool({
    name: 'get_case',
    title: 'Read a case',
    does: 'reads',
    description:
      'Reads a case: its description, its proof gate (what is missing before the operator can resolve it), its newest sessions and proofs, and its memory files.',
    input: caseArgument,
    output: {
      id: z.string(),
      title: z.string(),
      state: z.string(),
      uri: z.string(),
      status: statusShape,
      gate: row({ open: z.boolean(), missing: z.array(z.string()) }),

      sessions: z.array(row({})),
      session_count: z.number(),

      proof: z.array(row({})),
      proof_count: z.number(),
      memory: z.array(row({})),
      cut: z.array(z.string()).describe('Texts that were shortened, and where to read the rest'),
    },
    run: (access, { case: name }) =>
      access.read(async (client) => ({
        structured: await caseView(client, await caseIn(client, name)),
      })),
  }),
]

async function found(
  client: ApiReader,
  query: Record<string, string | undefined>,
): Promise<Outcome> {
  const { body } = await client.request('GET', `/search?${queryOf(query)}`)
  const cases = (body as FoundCaseJson[]).map(({ lines, ...each }) => ({
    ...each,
    lines: lines.map(({ file, line, text }) => ({ file, line, text })),
    uri: caseUri(each.id),
  }))
  return { structured: { cases } }
}

export function withUri<T extends { id: string }>(row: T): T & { uri: string } {
  return { ...row, uri: caseUri(row.id) }
}

function queryOf(query: Record<string, string | undefined>): URLSearchParams {
  const isGiven = (each: [string, string | undefined]): each is [string, string] =>
    each[1] !== undefined && each[1] !== '' // some agents send an empty string for an argument that they leave out
  return new URLSearchParams(Object.entries(query).filter(isGiven))
}

/** A case with its sessions, proofs and memory files, as far as they fit in an answer. */
export async function caseView(client: ApiReader, id: string) {
  const got = (path: string) =>
    client.request('GET', `/cases/${id}${path}`).then(({ body }) => body)
  const [found, gate, status, sessions, proof, memory] = await Promise.all([
    got(''),
    got('/gate'),
    statusView(client, id),
    rowsAt<SessionHeadJson>(client, `/cases/${id}/sessions?content=false`, { limit: WITH_CASE }),
    rowsAt<ProofHeadJson>(client, `/cases/${id}/proof?content=false`, { limit: WITH_CASE }),
    got('/memory'),
  ])
  return {
    ...withCutTexts(
      found,
      ['description'],
      () => 'Read the memory file case.md for the whole text.',
    ),
    status,
    gate,

    sessions: sessions.items.map(sessionRow),
    session_count: sessions.total,

    proof: proof.items.map(proofRow),
    proof_count: proof.total,
    memory: rowsOf<MemoryFileJson>(memory).items.map((each) => memoryRow(id, each)),
    uri: caseUri(id),
  }
}
