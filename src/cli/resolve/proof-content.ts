import { resolve } from 'node:path'
import { buffer } from 'node:stream/consumers'
import type { Client } from '../../client/client.ts'
import { decoded } from '../../files/decoded.ts'
import { realPathOf } from '../../files/real-path.ts'
import { readRegular } from '../../files/safe-read.ts'
import type { ProofJson } from '../../http/schemas/proof.ts'
import { AppError } from '../../model/app-error.ts'
import { type PictureType, pictureFacts } from '../../model/picture.ts'
import { MAX_PROOF_CONTENT_BYTES } from '../../sessions/proof-content.ts'
import { usageError } from '../output/exit-codes.ts'

export interface ProofSource {
  artifact?: string
  text?: string
}

export type ProofBody =
  | { content: string }
  | { artifact: string }
  | { picture: Uint8Array; contentType: PictureType }

/** The content to attach: from a file, standard input, an option, or a file that a session left. */
export async function contentOf(
  file: string | undefined,
  { artifact, text }: ProofSource,
): Promise<ProofBody> {
  const given = [file, artifact, text].filter((each) => each !== undefined)
  if (given.length !== 1) {
    throw usageError(
      'Name the proof: a file, - for standard input, --text, or --artifact. casefile prove shows what a session offers.',
    )
  }
  if (artifact !== undefined) return { artifact }
  if (text !== undefined) return { content: text }
  if (file !== '-') return contentOfFile(file!)
  const bytes = await buffer(process.stdin)
  return pictureOf(bytes) ?? { content: new TextDecoder().decode(bytes) }
}

/** Null for bytes that are not a picture. */
export function pictureOf(
  picture: Uint8Array,
): { picture: Uint8Array; contentType: PictureType } | null {
  const facts = pictureFacts(picture)
  return facts && { picture, contentType: facts.type }
}

/** Attaches what `contentOf` found. Without a type it has that of what it is. */
export async function sendProof(
  client: Pick<Client, 'request'>,
  caseId: string,
  found: ProofBody,
  { type, session_id }: { type: string | undefined; session_id: string | null | undefined },
): Promise<ProofJson> {
  const path = `/cases/${caseId}/proof`
  if (!('picture' in found)) {
    const body = {
      type: type ?? null,
      session_id,
      ...found,
    }
    return (await client.request('POST', path, { body })).body
  }
  const query = new URLSearchParams(type === undefined ? {} : { type })
  if (session_id !== undefined) query.set('session_id', session_id ?? 'none')
  const headers = { 'content-type': found.contentType }
  const options = { body: found.picture, headers }
  return (await client.request('POST', `${path}?${query}`, options)).body
}

async function contentOfFile(file: string): Promise<ProofBody> {
  const path = await realPathOf(resolve(file)) // the operator chose it, so links are followed
  const found = await readRegular(path, { maxBytes: MAX_PROOF_CONTENT_BYTES })
  const picture = found.ok ? pictureOf(found.bytes) : null
  if (picture) return picture
  const read = decoded(found, file)
  if (read.ok) return { content: read.text }
  throw new AppError(
    'bad_request',
    `${file} cannot be attached: ${read.problem.message}. Attach a text file or a picture (PNG, JPEG, WebP or GIF), or the part of it that proves the point.`,
  )
}
