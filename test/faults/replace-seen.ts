import { closeSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { installFaultyDisk } from '../fixtures/faults/faulty-disk.ts'

const disk = await installFaultyDisk()
const { replaceSeen } = await import('../../src/files/replace-seen.ts')
const { systemExchange } = await import('../../src/platform/exchange.ts')

// Whoever is told that a write failed takes what stands there for a person's; so it must not stand there.
for (const [how, exchange] of [
  ['by an exchange', systemExchange()],
  ['by a rename', null],
] as const) {
  t.test(`a file replaced ${how}, whatever call fails: it is told as it is`, async (t) => {
    const folder = t.testdir({})
    const path = join(folder, 'case.md')
    const temp = join(folder, 'ours.tmp')
    const said = new Set<string>()
    for (let at = 1, isOver = false; !isOver; at++) {
      writeFileSync(path, 'old')
      writeFileSync(temp, 'new')
      const found: number[] = []
      const tracker = (fd: number) => void found.push(fd)
      disk.arm({ kind: 'EIO', at }, [folder])
      let isPlaced = false
      try {
        isPlaced = replaceSeen(temp, path, Buffer.from('old'), tracker, { exchange })
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EIO') throw error
      }
      const { struck } = disk.disarm()
      isOver = struck === null
      for (const fd of found) closeSync(fd)
      rmSync(temp, { force: true })
      const is = `${readFileSync(path, 'utf8')}, ${isPlaced ? 'placed' : 'not placed'}`
      if (is !== 'new, placed' && is !== 'old, not placed') t.fail(`${is}: ${struck}`)
      if (isPlaced && found.length === 0) t.fail(`nobody has what was replaced: ${struck}`)
      said.add(is)
    }
    t.strictSame([...said].sort(), ['new, placed', 'old, not placed'])
  })
}
