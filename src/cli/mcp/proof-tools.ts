import { tmpdir } from 'node:os'
import { resolve } from 'node:path'
import * as z from 'zod'
import type { Client } from '../../client/client.ts'
import { isWithin, realPathOf } from '../../files/real-path.ts'
import { readRegular } from '../../files/safe-read.ts'
import type { ProofHeadJson, ProofJson } from '../../http/schemas/proof.ts'
import { AppError } from '../../model/app-error.ts'
import { MAX_PICTURE_BYTES } from '../../model/picture.ts'
import { KNOWN_PROOF_TYPES } from '../../model/suggested-values.ts'
import { proofsOf, resolveProof, wholeProof } from '../resolve/find-proof.ts'
import { resolveSessionHead } from '../resolve/find-session.ts'
import { contentOf, type ProofBody, pictureOf, sendProof } from '../resolve/proof-content.ts'
import { caseArgument, caseIn, mustBeWhole, wordOf } from './arguments.ts'
import { nextText } from './status-view.ts'
import { row, type Tool, tool } from './tool.ts'
import { rowRange, rowsAt, rowsShape, textPartShape, textRange } from './truncate.ts'
import { proofRow, proofView } from './views.ts'

/** Base64 of 10 MiB. */
const MOST_PICTURE_CHARACTERS = 14_100_000

/** The next step, for the agent. */
async function nextFor(client: Client, { case_id, supports, why_not }: ProofJson): Promise<string> {
  if (supports) return nextText(client, case_id)
  return `It is attached, and does not support its claim: ${why_not}. Attach proof that does, or ask the operator to accept this one with a reason (casefile prove verify --accept).`
}

const shape = {
  id: z.string(),
  type: z.string(),
  verified: z.boolean(),
  supports: z.boolean().describe('Whether it can open the gate once it is verified'),
  why_not: z
    .string()
    .nullable()
    .describe('Why it does not support its claim, such as failed tests'),
  accepted: z.string().nullable().describe('Why the operator accepted it anyway'),
  uri: z.string(),
}

export const proofTools: readonly Tool[] = [
  tool({
    name: 'list_proof',
    title: 'List proof',
    does: 'reads',
    description: 'Lists the proofs of a case, the newest first, without their content.',
    input: { ...caseArgument, ...rowRange },
    output: { proof: z.array(row(shape)), ...rowsShape },
    run: (access, { case: name, offset, limit }) =>
      access.read(async (client) => {
        const path = `/cases/${await caseIn(client, name)}/proof?content=false`
        const { items, ...range } = await rowsAt<ProofHeadJson>(client, path, { offset, limit })
        return { structured: { proof: items.map(proofRow), ...range } }
      }),
  }),
  tool({
    name: 'get_proof',
    title: 'Read a proof',
    does: 'reads',
    description:
      'Reads a proof: its content, or a part of it, and whether the operator has verified it.',
    input: {
      ...caseArgument,
      proof: z.string().min(1).max(100).describe('Its id, or the start of it'),
      ...textRange,
    },
    output: { ...shape, content: z.string(), ...textPartShape },
    run: (access, { case: name, proof, offset, limit }) =>
      access.read(async (client) => {
        const all = await proofsOf(client, await caseIn(client, name))
        const found = await wholeProof(client, resolveProof(all, proof))
        return { structured: proofView(found, offset, limit) }
      }),
  }),
  tool({
    name: 'attach_proof',
    title: 'Attach proof',
    does: 'appends',
    description:
      'Attaches a proof to a case: a text, a picture, or a candidate that a finished session left. This does not verify it and does not open the gate: only the operator verifies proof. The first proof of a complete session seals the session.',
    input: {
      ...caseArgument,
      type: z
        .string()
        .optional()
        .describe(
          `${KNOWN_PROOF_TYPES.join(', ')}, or another lower-case word. By default what it is: leave it out for an artifact. Another type than that counts only if the operator accepts it with a reason`,
        ),
      content: z
        .string()
        .optional()
        .describe('The proof itself, as text; or give artifact or picture'),
      picture: z
        .string()
        .max(MOST_PICTURE_CHARACTERS)
        .optional()
        .describe(
          'A picture (PNG, JPEG, WebP or GIF, at most 10 MiB) instead of content: the path of a file below the present folder or the folder for temporary files, or data:image/png;base64,…',
        ),
      artifact: z
        .string()
        .optional()
        .describe('The name of a candidate of a session, such as 1-test.tap, instead of content'),
      session: z
        .union([z.string().min(1).max(100), z.number().int().min(1)])
        .optional()
        .describe(
          'The session that it comes from: its number, id, latest, or none. Default: the session of the artifact, else the newest complete session without proof',
        ),
    },
    output: { ...shape, session_id: z.string().nullable(), next: z.string() },
    run(access, { case: name, session, type, content, artifact, picture }) {
      const given = [content, artifact, picture].filter((each) => each !== undefined)
      if (given.length !== 1) throw oneOfThem()
      mustBeWhole('content', content ?? '')
      return access.served(async (client) => {
        const id = await caseIn(client, name)
        const session_id = await sessionIdOf(client, id, wordOf(session))
        const source = {
          ...(artifact === undefined ? {} : { artifact }),
          ...(content === undefined ? {} : { text: content }),
        }
        const found =
          picture === undefined ? await contentOf(undefined, source) : await pictureAt(picture)
        const proof = await sendProof(client, id, found, { type, session_id })
        const { content: _, ...head } = proof
        return { structured: { ...proofRow(head), next: await nextFor(client, proof) } }
      })
    },
  }),
]

async function sessionIdOf(
  client: Client,
  caseId: string,
  word: string | undefined,
): Promise<string | null | undefined> {
  if (word === undefined) return undefined
  return word === 'none' ? null : (await resolveSessionHead(client, caseId, word)).id
}

/** A data: URL, or a file that the agent's own folders have: it may run in a sandbox that this process does not. */
async function pictureAt(picture: string): Promise<ProofBody> {
  const base64 = /^data:image\/[\w.+-]+;base64,([\sA-Za-z0-9+/=_-]+)$/.exec(picture)?.[1]
  const bytes = base64 === undefined ? await ownFile(picture) : Buffer.from(base64, 'base64')
  const found = pictureOf(bytes)
  if (found) return found
  throw new AppError(
    'bad_request',
    'picture: expected a PNG, JPEG, WebP or GIF file, or data:image/png;base64,… with its bytes. Send SVG as content.',
  )
}

async function ownFile(name: string): Promise<Uint8Array> {
  const path = await realPathOf(resolve(name.slice(0, 4096)))
  const folders = await Promise.all([process.cwd(), tmpdir()].map(realPathOf))
  const isOwn = folders.some((folder) => isWithin(folder, path))
  const read = isOwn ? await readRegular(path, { maxBytes: MAX_PICTURE_BYTES }) : null
  if (read?.ok) return read.bytes
  const why = read
    ? `cannot be read (${read.reason})`
    : 'is neither below the present folder nor in the folder for temporary files'
  throw new AppError('bad_request', `picture: ${name.slice(0, 200)} ${why}.`)
}

function oneOfThem(): AppError {
  return new AppError(
    'bad_request',
    'Give exactly one of content (the text itself), picture, or artifact (the name of a candidate that get_session lists).',
  )
}
