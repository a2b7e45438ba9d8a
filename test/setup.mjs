/** What holds in each process with tests; .taprc names it. */
import { randomInt } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { isMainThread } from 'node:worker_threads'
import fc from 'fast-check'
import processOnSpawn from 'process-on-spawn'

// else tap loads its modules in each program that a test starts, which takes longer than the program
processOnSpawn.removeAllListeners()
delete process.env.NODE_OPTIONS
// chance finds new faults in the long lane, in full; whatever else runs is what ran before
process.env.CASEFILE_TEST_SEED ??= String(
  process.env.CASEFILE_TEST_FULL === '1' ? randomInt(2 ** 31) : 1,
)
fc.configureGlobal({ seed: Number(process.env.CASEFILE_TEST_SEED) })
if (isMainThread) {
  process.umask(0o022) // a state folder that a group may write to is not used
  // a folder of a test is in no repository unless the test makes one: not in that of this checkout
  const fixtures = new URL('../.tap/fixtures/', import.meta.url)
  mkdirSync(fixtures, { recursive: true })
  writeFileSync(new URL('.git', fixtures), 'no repository\n')
}
