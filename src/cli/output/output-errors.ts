/**
 * What cannot be written to the output is no end of the program, which may be a service: a reader that has seen
 * enough (`| head`) is no error, and a full disk is told once and makes the exit code 1.
 */
export function bearOutputErrors({ stdout, stderr } = process): void {
  let isTold = false
  stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE' || isTold) return
    isTold = true
    stderr.write(`casefile: standard output cannot be written: ${error.message}\n`)
    process.once('exit', () => {
      process.exitCode ||= 1
    })
  })
  stderr.on('error', () => {}) // there is nobody left to tell
}
