/**
 * Runs built test files one behind the other in this process: `node test/run-files.mjs <folder of the built files> <file...>`.
 * Loading tap and the service, and compiling both, then costs once what it would cost for each file.
 */
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import fc from 'fast-check'
import t from 'tap'

fc.configureGlobal({ seed: Number(process.env.CASEFILE_TEST_SEED) })
const [, , folder, ...files] = process.argv
// each test has the limit, and each file
t.setTimeout(files.length * Number(process.env.TAP_TIMEOUT) * 1000)
// after a teardown at the top tap ends what is idle, which the process is while it reads the next file
const teardowns = []
const { teardown } = t
t.teardown = (end) => void teardowns.unshift(end)
for (const file of files) {
  // a file can have its folder at the top, where all files share one test
  t.testdirName = resolve('.tap/fixtures', file.replaceAll('/', '-'))
  t.comment(file)
  await import(pathToFileURL(join(folder, file.replace(/ts$/, 'js'))).href)
}
teardown(async () => {
  for (const end of teardowns) await end()
})
