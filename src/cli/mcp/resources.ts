import type { ApiReader } from '../../client/client.ts'
import type { ProofJson } from '../../http/schemas/proof.ts'
import type { SessionJson } from '../../http/schemas/session.ts'
import { resolveSession } from '../resolve/find-session.ts'
import { caseView, withUri } from './case-tools.ts'
import { memoryText } from './memory-tools.ts'
import { MOST_CHARACTERS, partOf, rowsAt } from './truncate.ts'
import { CASES_URI, memoryUri, type Resource, TEMPLATES } from './uris.ts'
import { proofView, sessionView } from './views.ts'

export interface Contents {
  uri: string
  mimeType: string
  text: string
}

/** The one resource in the list: the others have templates, and the tools give their URIs. */
export const ALL_CASES = {
  uri: CASES_URI,
  name: 'cases',
  title: 'All cases',
  description: 'The cases; those that need the operator come first',
  mimeType: 'application/json',
}

export const RESOURCE_TEMPLATES = [
  {
    name: 'case',
    title: 'A case',
    uriTemplate: TEMPLATES.case,
    description: 'A case with its gate, its newest sessions and proofs, and its memory files',
    mimeType: 'application/json',
  },
  {
    name: 'session',
    title: 'A session',
    uriTemplate: TEMPLATES.session,
    description: 'A session of a case, by its id, its number, or latest',
    mimeType: 'application/json',
  },
  {
    name: 'proof',
    title: 'A proof',
    uriTemplate: TEMPLATES.proof,
    description: 'A proof of a case with its content',
    mimeType: 'application/json',
  },
  {
    name: 'memory',
    title: 'A memory file',
    uriTemplate: TEMPLATES.memory,
    description:
      'A markdown file of a case: case.md, notes.md, 2.md (the record of session 2), latest.md',
    mimeType: 'text/markdown',
  },
]

/** The content of a resource. A long text is cut, with a hint where the rest is. */
export async function readContents(
  client: ApiReader,
  uri: string,
  place: Resource,
): Promise<Contents[]> {
  const json = (value: unknown) => [
    { uri, mimeType: 'application/json', text: JSON.stringify(value, null, 2) },
  ]
  switch (place.kind) {
    case 'cases': {
      const { items, total, next_offset } = await rowsAt<{ id: string }>(client, '/triage')
      const cases = items.map(withUri)
      const more = next_offset === null ? {} : { more: 'The tool list_cases has the others.' }
      return json({ total, cases, ...more })
    }
    case 'case':
      return json(await caseView(client, place.case_id))
    case 'session':
      return json(sessionView(await sessionIn(client, place.case_id, place.session)))
    case 'proof': {
      const path = `/cases/${place.case_id}/proof/${place.proof_id}`
      const proof: ProofJson = (await client.request('GET', path)).body
      const view = proofView(proof)
      const more = { cut: ['The tool get_proof has the rest of the content.'] }
      return json(view.next_offset === null ? view : { ...view, ...more })
    }
    case 'memory':
      return memoryContents(client, uri, place)
  }
}

function sessionIn(client: ApiReader, caseId: string, word: string): Promise<SessionJson> {
  if (word.length < 36) return resolveSession(client, caseId, word)
  return client.request('GET', `/cases/${caseId}/sessions/${word}`).then(({ body }) => body)
}

async function memoryContents(
  client: ApiReader,
  uri: string,
  { case_id, filename, offset }: Extract<Resource, { kind: 'memory' }>,
): Promise<Contents[]> {
  const whole = await memoryText(client, case_id, filename)
  const { text, next_offset, total_characters } = partOf(whole, offset, MOST_CHARACTERS)
  const mimeType = 'text/markdown'
  if (next_offset === null) return [{ uri, mimeType, text }]
  const next = `${memoryUri(case_id, filename)}?offset=${next_offset}`
  const hint = `[casefile: characters ${offset} to ${next_offset} of ${total_characters} are above; the next part is ${next}]`
  return [
    { uri, mimeType, text },
    { uri: next, mimeType: 'text/plain', text: hint },
  ]
}
