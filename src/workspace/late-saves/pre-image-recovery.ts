import { makeFolder } from '../../files/durable-write.ts'
import { discard } from '../../files/new-file.ts'
import { readRegular } from '../../files/safe-read.ts'
import { hashOf } from '../record.ts'
import { MAX_DISPLACED_BYTES } from './displaced.ts'
import { type PreImage, preImagesIn } from './pre-images.ts'
import type { Rescue } from './rescue.ts'

/**
 * Looks at what a service that died had still to look at. What our write was made on is not known any
 * more, so what a person saved is kept as a copy. One that cannot be is told, and stays for the next start.
 */
export async function recoverPreImages(
  folder: string,
  rescue: Rescue,
  log: (line: string) => void,
): Promise<void> {
  await makeFolder(folder, 0o700)
  for (const each of await preImagesIn(folder)) {
    const { id, file, path } = each
    const problem = await recovered(each, rescue).catch(String)
    if (problem === null) await discard(path)
    else log(`what was saved into ${file} of case ${id} is kept as ${path}: ${problem}`)
  }
}

/** Null where it is safe, else why it is not. */
async function recovered(
  { path, hash, id, file }: PreImage,
  rescue: Rescue,
): Promise<string | null> {
  const read = await readRegular(path, { maxBytes: MAX_DISPLACED_BYTES })
  if (!read.ok) return read.detail
  if (read.bytes.length === 0 || hashOf(read.bytes) === hash) return null
  const rescued = await rescue({ id, file, base: null, theirs: read.bytes }, false)
  return rescued === 'homeless' ? 'the case is gone' : null
}
