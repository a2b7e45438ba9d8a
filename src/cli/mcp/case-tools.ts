import * as z from 'zod'
import type { Asking } from '../../client/client.ts'
import { ATTENTION_KINDS } from '../../model/attention.ts'
import { CASE_STATES } from '../../model/case-state.ts'
import { caseNamed } from '../named/case.ts'
import { proofsOf } from '../named/proof.ts'
import { sessionsOf } from '../named/session.ts'
import { caseArgument } from './arguments.ts'
import { rowRange, rowsOf, rowsShape, withCutTexts } from './parts.ts'
import { type Outcome, type Tool, tool } from './tool.ts'
import { caseUri } from './uris.ts'
import { type MemoryJson, memoryRow, proofRow, sessionRow } from './views.ts'

/** How many sessions and proofs come with their case. */
const WITH_CASE = 10

const filters = {
  state: z
    .string()
    .optional()
    .describe(
      `Only cases in this state, or in one of several with commas: ${CASE_STATES.join(', ')}`,
    ),
  type: z.string().optional().describe('Only cases of this type, such as bug or feature'),
}

const row = z.looseObject({
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
      'Lists the cases, those that need the operator first: what each needs, its state, how many sessions it has, and whether its proof gate is open.',
    input: {
      ...filters,
      tag: z.string().optional().describe('Only cases with this tag'),
      outcome: z.string().optional().describe('Only cases with this outcome'),
      needs: z
        .string()
        .optional()
        .describe(
          `Only cases that need this of the operator: any, or ${ATTENTION_KINDS.join(', ')}`,
        ),
      ...rowRange,
    },
    output: { cases: z.array(row), ...rowsShape },
    run: (access, { offset, limit, ...query }) =>
      access.read((client) => listed(client, query, offset, limit)),
  }),
  tool({
    name: 'search_cases',
    title: 'Search cases',
    does: 'reads',
    description:
      'Finds the cases that have each of the words in their title or description, whatever the case of its letters.',
    input: {
      query: z.string().min(1).max(500).describe('Words, with blanks between them'),
      ...filters,
      ...rowRange,
    },
    output: { cases: z.array(row), ...rowsShape },
    run: (access, { offset, limit, query, ...rest }) =>
      access.read((client) => listed(client, { ...rest, q: query }, offset, limit)),
  }),
  tool({
    name: 'get_case',
    title: 'Read a case',
    does: 'reads',
    description:
      'A case with its description, its proof gate (what is missing before the operator can resolve it), its newest sessions and proofs, and its memory files.',
    input: caseArgument,
    output: {
      ...{ id: z.string(), title: z.string(), state: z.string(), uri: z.string() },
      gate: z.looseObject({ open: z.boolean(), missing: z.array(z.string()) }),
      ...{ sessions: z.array(z.looseObject({})), session_count: z.number() },
      ...{ proof: z.array(z.looseObject({})), proof_count: z.number() },
      memory: z.array(z.looseObject({})),
      cut: z.array(z.string()).describe('What was left out for its length, and where it is'),
    },
    run: (access, { case: name }) =>
      access.read(async (client) => ({
        structured: await caseView(client, await caseNamed(client, name)),
      })),
  }),
]

async function listed(
  client: Asking,
  query: Record<string, string | undefined>,
  offset: number,
  limit: number,
): Promise<Outcome> {
  const given = Object.entries(query).filter(
    (each): each is [string, string] => each[1] !== undefined,
  )
  const { body } = await client.ask('GET', `/triage?${new URLSearchParams(given)}`)
  const { items, ...range } = rowsOf<{ id: string }>(body, offset, limit)
  return {
    structured: { cases: items.map((each) => ({ ...each, uri: caseUri(each.id) })), ...range },
  }
}

/** A case with all that belongs to it, as far as an answer has room. */
export async function caseView(client: Asking, id: string) {
  const got = (path: string) => client.ask('GET', `/cases/${id}${path}`).then(({ body }) => body)
  const [found, gate, sessions, proof, memory] = await Promise.all([
    ...[got(''), got('/gate')],
    ...[sessionsOf(client, id), proofsOf(client, id), got('/memory')],
  ])
  return {
    ...withCutTexts(found, ['description'], () => 'All of it is in the memory file case.md.'),
    gate,
    ...{ sessions: sessions.slice(0, WITH_CASE).map(sessionRow), session_count: sessions.length },
    ...{ proof: proof.slice(0, WITH_CASE).map(proofRow), proof_count: proof.length },
    memory: rowsOf<MemoryJson>(memory).items.map((each) => memoryRow(id, each)),
    uri: caseUri(id),
  }
}
