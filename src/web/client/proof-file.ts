const MAX_BYTES = 10 * 1024 * 1024

export type ProofFile = { ok: true; text: string } | { ok: false; why: string }

/** The text of a file, byte for byte; or in words why it can be no proof. */
export async function readProofFile(
  file: Pick<File, 'name' | 'size' | 'arrayBuffer'>,
): Promise<ProofFile> {
  const { name, size } = file
  if (size > MAX_BYTES)
    return refused(
      `${name} has ${size.toLocaleString('en')} bytes; proof holds at most 10 MiB. Attach the part that proves the point.`,
    )
  if (size === 0) return refused(`${name} is empty.`)
  const bytes = await file.arrayBuffer().then(
    (buffer) => new Uint8Array(buffer),
    () => null, // it was removed or changed since it was chosen, or may not be read
  )
  if (!bytes) return refused(`${name} cannot be read. Is it still there? Choose it once more.`)
  if (bytes.includes(0)) return refused(`${name} ${BINARY}`)
  try {
    return {
      ok: true,
      text: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes),
    }
  } catch {
    return refused(`${name} ${BINARY}`)
  }
}

const BINARY =
  'is no text in UTF-8. Proof is text: attach a log or a report, or say in words what the file shows and where it lies.'

function refused(why: string): ProofFile {
  return { ok: false, why }
}
