import { type PictureType, pictureFacts } from '../../../model/picture.ts'

const MAX_BYTES = 10 * 1024 * 1024

export type ProofFile =
  | { ok: true; text: string }
  | { ok: true; picture: Uint8Array<ArrayBuffer>; type: PictureType }
  | { ok: false; why: string }

/** The text of a file, byte for byte, or its picture, or why it can't be proof. */
export async function readProofFile(
  file: Pick<File, 'name' | 'size' | 'arrayBuffer'>,
): Promise<ProofFile> {
  const { name, size } = file
  if (size > MAX_BYTES)
    return rejected(
      `${name} has ${size.toLocaleString('en')} bytes; proof is limited to 10 MiB. Attach the part that proves the point.`,
    )
  if (size === 0) return rejected(`${name} is empty.`)
  const bytes = await file.arrayBuffer().then(
    (buffer) => new Uint8Array(buffer),
    () => null, // removed or changed since it was chosen, or not readable
  )
  if (!bytes)
    return rejected(`${name} cannot be read. Check that it still exists, then choose it again.`)
  const facts = pictureFacts(bytes)
  if (facts) return { ok: true, picture: bytes, type: facts.type }
  if (bytes.includes(0)) return rejected(`${name} ${BINARY}`)
  try {
    return {
      ok: true,
      text: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes),
    }
  } catch {
    return rejected(`${name} ${BINARY}`)
  }
}

const BINARY =
  'is neither UTF-8 text nor a PNG, JPEG, WebP or GIF picture. Attach a log, a report or a screenshot, or describe what the file shows and where it is.'

function rejected(why: string): ProofFile {
  return { ok: false, why }
}
