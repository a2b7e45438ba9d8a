import { makeFolder } from './durable-write.ts'
import { discard } from './new-file.ts'
import { type PreImage, preImagesIn } from './pre-images.ts'
import { hashOf } from './record.ts'
import type { Rescue } from './rescue.ts'
import { readRegular } from './safe-read.ts'

const MAX_BYTES = 64 * 1024 * 1024

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
    await recovered(each, rescue).catch((error: unknown) => {
      log(`what was saved into ${each.file} of case ${each.id} is not safe yet: ${String(error)}`)
    })
  }
}

async function recovered({ path, hash, id, file }: PreImage, rescue: Rescue): Promise<void> {
  const read = await readRegular(path, { maxBytes: MAX_BYTES })
  if (!read.ok) throw new Error(read.detail)
  if (read.bytes.length > 0 && hashOf(read.bytes) !== hash) {
    await rescue({ id, file, base: null, theirs: read.bytes }, false)
  }
  await discard(path)
}
