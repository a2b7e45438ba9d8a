import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/**
 * V8 collects when it is short of memory, and gives back little of what a start took, the room for new objects
 * least of all: after thousands of cases were read or let go it is asked to, as a debugger does, which takes
 * 0.2 s among 10,000.
 */
export function collectGarbage(): void {
  const inspector = process.getBuiltinModule('node:inspector') // loaded by those that need it
  if (!inspector) {
    collectOnly()
    return
  }
  const session = new inspector.Session()
  session.connect()
  session.post('HeapProfiler.collectGarbage', () => {
    // V8 calls back under a lock that the end of the session takes, too
    setImmediate(() => session.disconnect())
  })
}

/** Nothing but its objects, in a Node without a debugger. */
function collectOnly(): void {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  collect()
  collect() // only now V8 gives back what the first one found free
}
