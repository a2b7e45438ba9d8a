/** A process can run several commands. */
const handled = new WeakSet<object>()

/**
 * Keeps the program, which may be a service, running if its output cannot be written. A reader that closes the pipe
 * (`| head`) is not an error. Any other failure, such as a full disk, is reported once and sets exit code 1.
 */
export function bearOutputErrors({ stdout, stderr } = process): void {
  if (handled.has(stdout)) return
  handled.add(stdout)
  let isReported = false
  stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE' || isReported) return
    isReported = true
    stderr.write(`casefile: standard output cannot be written: ${error.message}\n`)
    process.once('exit', () => {
      process.exitCode ||= 1
    })
  })
  stderr.on('error', () => {}) // no place is left for a message
}
