import {
  closeSync,
  fstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { NewFile } from '../../src/files/new-file.ts'
import type { ReplacedFile } from '../../src/files/replace-seen.ts'
import { installFaultyDisk } from '../fixtures/faults/faulty-disk.ts'

const disk = await installFaultyDisk()
const { replaceSeen } = await import('../../src/files/replace-seen.ts')
const { systemExchange } = await import('../../src/platform/exchange.ts')

/** As a write leaves it, to be placed. */
function opened(path: string): NewFile {
  writeFileSync(path, 'new')
  const fd = openSync(path, 'r+')
  return { path, bytes: Buffer.from('new'), fd, stats: fstatSync(fd) }
}

// Whoever is told that a write failed takes what stands there for a person's; so it must not stand there.
for (const [how, exchange] of [
  ['by an exchange', systemExchange()],
  ['by a rename', null],
] as const) {
  t.test(`a file replaced ${how}, whatever call fails: it is told as it is`, async (t) => {
    const folder = t.testdir({})
    const path = join(folder, 'case.md')
    const kept = join(folder, 'kept')
    const said = new Set<string>()
    for (let at = 1, isOver = false; !isOver; at++) {
      rmSync(kept, { recursive: true, force: true })
      mkdirSync(kept)
      writeFileSync(path, 'old')
      const found: ReplacedFile[] = []
      const tracker = {
        link: join(kept, 'link'),
        keep: (displaced: ReplacedFile) => void found.push(displaced),
      }
      const ours = opened(join(folder, 'ours.tmp'))
      disk.arm({ kind: 'EIO', at }, [folder])
      let isPlaced = false
      try {
        isPlaced = replaceSeen(ours, path, Buffer.from('old'), tracker, { exchange })
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EIO') throw error
      }
      const { struck } = disk.disarm()
      isOver = struck === null
      for (const each of found) if (typeof each === 'number') closeSync(each)
      rmSync(ours.path, { force: true })
      const is = `${readFileSync(path, 'utf8')}, ${isPlaced ? 'placed' : 'not placed'}`
      if (is !== 'new, placed' && is !== 'old, not placed') t.fail(`${is}: ${struck}`)
      if (isPlaced && found.length === 0) t.fail(`nobody has what was displaced: ${struck}`)
      said.add(is)
    }
    t.strictSame([...said].sort(), ['new, placed', 'old, not placed'])
  })
}
