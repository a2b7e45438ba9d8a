import * as z from 'zod'
import { newProofSchema, verifySchema } from '../schemas/case.ts'
import { listedProof, memoryFile, proof, writtenFile } from '../schemas/session.ts'
import { FILE_REFUSALS, made, type Operations, one } from './operation.ts'
import { LIST_REFUSALS, listOf, paging } from './paging.ts'

const MARKDOWN = { type: 'text/markdown; charset=utf-8', description: 'The bytes of the file.' }

export const proofOperations: Operations = {
  'GET /cases/:id/proof': {
    ...{ id: 'listProof', tag: 'Proof', summary: 'The proofs of a case' },
    description:
      'With their content, unless `content=false`. The list is whole without `limit`; with it, `Link` leads to the next page.',
    query: {
      ...paging,
      content: z.enum(['true', 'false']).optional().describe('Whether to list the contents too.'),
    },
    answers: listOf(listedProof, 'The proofs, the newest first.'),
    refusals: LIST_REFUSALS,
  },
  'POST /cases/:id/proof': {
    ...{ id: 'attachProof', tag: 'Proof', summary: 'Attaches proof to a case' },
    description:
      'Either `content`, or `artifact`: the name of a candidate of a session. A test report in it is counted: one with failures supports nothing. Without `session_id` it belongs to the newest complete session that has none; null means to none.',
    body: newProofSchema,
    answers: made(proof, 'The proof, which is still to be verified.'),
    refusals: [...FILE_REFUSALS, 'wrong_state'],
  },
  'GET /cases/:id/proof/:pid': {
    ...{ id: 'getProof', tag: 'Proof', summary: 'A proof' },
    description:
      'With its content. One whose content was changed after it was verified counts as not verified.',
    answers: one(proof, 'The proof.'),
  },
  'GET /cases/:id/proof/:pid/content': {
    ...{ id: 'getProofContent', tag: 'Proof', summary: 'The content of a proof alone' },
    description: 'The bytes as plain text, without the fields around them.',
    answers: {
      200: {
        description: 'The content.',
        text: { type: 'text/plain; charset=utf-8', description: 'The content, as it was sent.' },
        headers: ['ETag', 'Content-Security-Policy'],
      },
    },
  },
  'PUT /cases/:id/proof/:pid/verify': {
    ...{ id: 'verifyProof', tag: 'Proof', summary: 'Marks a proof verified, as it stands now' },
    description:
      'What is verified is the content that it has now; a later change of it takes the verification away. A proof that does not support its claim opens no gate, verified or not, until `accept` says why it counts all the same.',
    body: verifySchema,
    isBodyOptional: true,
    isConditional: true,
    isOperators: true,
    answers: one(proof, 'The proof as it is now.'),
    refusals: [...FILE_REFUSALS, 'bad_request'],
  },
  'GET /cases/:id/memory': {
    ...{ id: 'listMemory', tag: 'Memory', summary: 'The memory files of a case' },
    description: '`case.md`, the notes of people and agents, and one file for each session.',
    answers: one(z.array(memoryFile), 'The files, by name, then the sessions by number.'),
    refusals: ['unreadable_file'],
  },
  'GET /cases/:id/memory/:filename': {
    ...{ id: 'getMemory', tag: 'Memory', summary: 'A memory file' },
    description:
      'The bytes as they are on disk: `notes.md` and the like, `case.md`, `1.md` for the first session, `latest.md` for the newest.',
    answers: {
      200: {
        ...{ description: 'The file.', text: MARKDOWN },
        headers: ['ETag', 'Content-Security-Policy'],
      },
    },
    refusals: ['invalid_filename', 'unreadable_file'],
  },
  'PUT /cases/:id/memory/:filename': {
    ...{ id: 'putMemory', tag: 'Memory', summary: 'Writes a memory file' },
    description:
      'Any bytes, of any content type. Case and session files are checked. A `case.md` of an unknown case makes that case where `If-None-Match: *` is sent.',
    bytes: { type: 'text/markdown', description: 'The bytes of the file, 10 MiB at most.' },
    isConditional: true,
    isOperators: true,
    answers: {
      200: { description: 'It was there.', json: writtenFile, headers: ['ETag'] },
      201: { description: 'It is new.', json: writtenFile, headers: ['ETag', 'Location'] },
    },
    refusals: [
      ...[...FILE_REFUSALS, 'bad_request', 'too_large', 'unsupported_media_type'],
      ...[
        'invalid_filename',
        'proof_gate',
        'session_ended',
        'would_be_a_problem',
        'already_exists',
      ],
    ] as const,
  },
}
