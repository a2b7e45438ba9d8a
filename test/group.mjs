/** Runs test files one behind the other in one process: loading tap and the service then costs once what it costs for each file. */
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import t from 'tap'
import { BUILT } from './build.mjs'

// a place in the source costs much at each assertion; who runs a file alone sees it
process.setSourceMapsEnabled(false)

/** `files`: their paths from the root. */
export async function runGroup(files) {
  // each test has the limit, and each file
  t.setTimeout(files.length * Number(process.env.TAP_TIMEOUT) * 1000)
  for (const file of files) {
    // a file can have its folder at the top, where all files share one test
    t.testdirName = resolve('.tap/fixtures', file.replaceAll('/', '-'))
    t.comment(file)
    await import(pathToFileURL(join(BUILT, file.replace(/ts$/, 'js'))).href)
  }
}
