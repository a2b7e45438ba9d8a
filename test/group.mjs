/** Runs test files one behind the other in one process: loading tap and the service then costs once what it costs for each file. */
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import t from 'tap'

// a place in the source costs much at each assertion; who runs a file alone sees it
process.setSourceMapsEnabled(false)

// most code of the short lane runs a few times: V8 spends a tenth of the time on making it fast. Later versions count otherwise
const isCold = process.env.CASEFILE_TEST_LONG !== '1' && process.version.startsWith('v20.')
if (isCold) setFlagsFromString('--interrupt-budget=1000000')

// of what no test awaits: the group has failed, and goes on
process.on('uncaughtException', (error) => t.threw(error))

/** `files`: by their paths from the root, how each is loaded. */
export async function runGroup(files) {
  // after a teardown at the top tap ends what is idle, which the process is while it reads the next file
  const teardowns = []
  t.teardown = (end) => void teardowns.unshift(end)
  // before the first folder of a test at the top, which tap then removes after it
  t.after(async () => {
    for (const end of teardowns) await end()
  })
  const limit = Number(process.env.TAP_TIMEOUT) * 1000
  for (const [file, load] of Object.entries(files)) {
    t.setTimeout(limit) // from now on: it is for each file
    const before = cpuSeconds()
    // a file can have its folder at the top, where all files share one test
    t.testdirName = resolve('.tap/fixtures', file.replaceAll('/', '-'))
    await load()
    if (!t.idle) await once(t, 'idle')
    t.comment(`${file}: ${(cpuSeconds() - before).toFixed(1)} s of CPU`)
  }
  t.setTimeout(Object.keys(files).length * limit) // tap compares it with the time of all
  // whatever a test has left open; but first all is read that tap has said
  t.on('complete', () => t.on('end', () => process.stdout.write('', () => process.exit())))
  t.end()
}

/** Of this process and of those that it started and that ended; of itself alone where there is no `/proc`. */
function cpuSeconds() {
  const { user, system } = process.cpuUsage()
  const children = process.platform === 'linux' ? childTicks() : 0
  return (user + system) / 1e6 + children / 100
}

/** proc(5): after the name in parentheses stand the state and what follows; `cutime` and `cstime` are 14th and 15th of them. */
function childTicks() {
  const text = readFileSync('/proc/self/stat', 'utf8')
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  return Number(fields[13]) + Number(fields[14])
}
