/** The process of `program-process.ts`. It ends with the service. */

import { type ProgramCall, startProgram } from './program-child.ts'
import type { ProgramAnswer, ProgramRequest } from './program-process.ts'

const running = new Map<number, AbortController>()

process.on('message', (message) => {
  const request = message as ProgramRequest
  if ('call' in request) void run(request.id, request.call)
  else running.get(request.id)?.abort()
})
process.on('disconnect', () => process.exit())
// a Ctrl-C in the terminal is for the service, which may still need it
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})

async function run(id: number, call: ProgramCall): Promise<void> {
  const controller = new AbortController()
  running.set(id, controller)
  const answer = await startProgram(call, controller.signal).then(
    (output): ProgramAnswer => ({ id, output }),
    (error: Error): ProgramAnswer => {
      const { name, message } = error
      return { id, error: { ...error, name, message } }
    },
  )
  running.delete(id)
  if (process.connected) process.send?.(answer)
}
