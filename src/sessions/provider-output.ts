import type { RunReport } from '../runners/contract.ts'
import { createLiveOutput } from './live-output.ts'
import type { Redactor } from './redaction.ts'

export type OutputListener = (stream: 'stdout' | 'stderr', text: string) => void

/** A run report for a run without a session: it passes the redacted output to `onOutput` and stores nothing. */
export function openOutputReport(
  redactor: Redactor,
  onOutput: OutputListener,
  onProcess: (pid: number) => Promise<void>,
): RunReport & { end(): void } {
  const live = createLiveOutput(onOutput, 'no record; wait for the result')
  const streams = { stdout: redactor.stream(), stderr: redactor.stream() }
  return {
    processStarted: onProcess,
    output: (stream, bytes) => void live.write(stream, streams[stream].write(bytes)),
    raw() {},
    clean: (text) => redactor.text(text),
    async stepStarted() {},
    async stepFinished() {},
    async note() {},
    end() {
      live.write('stdout', streams.stdout.end())
      live.write('stderr', streams.stderr.end())
      live.end()
    },
  }
}
