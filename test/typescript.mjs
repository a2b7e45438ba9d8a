/** Runs what test/prepare.mjs made of a test file in place of the file. */
import { randomInt } from 'node:crypto'
import { register } from 'node:module'
import { join, relative } from 'node:path'
import { pathToFileURL } from 'node:url'
import { isMainThread } from 'node:worker_threads'
import fc from 'fast-check'
import processOnSpawn from 'process-on-spawn'
import { BUILT, ROOT } from './build.mjs'

const file = process.argv[1] ?? ''
if (isMainThread && file.endsWith('.ts')) {
  const built = pathToFileURL(join(BUILT, relative(ROOT, file).replace(/ts$/, 'js'))).href
  const resolve = `(url, context, next) => next(context.parentURL === undefined ? ${JSON.stringify(built)} : url, context)`
  register(`data:text/javascript,export const resolve = ${encodeURIComponent(resolve)}`)
}
// tap loads its modules in each program that a test starts: only its report of coverage needs that
if (process.env._TAPJS_PROCESSINFO_COVERAGE_ !== '1') processOnSpawn.removeAllListeners()
// chance finds new faults in the long lane, in full; whatever else runs is what ran before
process.env.CASEFILE_TEST_SEED ??= String(
  process.env.CASEFILE_TEST_FULL === '1' ? randomInt(2 ** 31) : 1,
)
fc.configureGlobal({ seed: Number(process.env.CASEFILE_TEST_SEED) })
process.umask(0o022) // a state folder that a group may write to is not used
