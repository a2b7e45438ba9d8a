import type { AppError, ErrorCode } from '../../model/app-error.ts'

const NEXT: Partial<Record<ErrorCode, string>> = {
  unreadable_file: 'casefile doctor --check',
  would_be_a_problem: 'casefile doctor --check',
  untrusted_provider: 'casefile doctor --trust',
  untrusted_workdir: 'casefile doctor --trust',
  untrusted_agent_files: 'casefile doctor --trust',
  provider_unavailable: 'casefile doctor',
  unknown_provider: 'casefile doctor',
}

/** The command to run after an error; null if its message names one, or none helps. */
export function nextStep({ code, message, extra }: AppError): string | null {
  if (/casefile \w+/.test(message)) return null
  const { running } = extra as { running?: { case_id?: unknown } }
  if (typeof running?.case_id === 'string') {
    const act = code === 'session_running' ? 'stop' : 'watch'
    return `casefile session ${act} ${running.case_id.slice(0, 8)}`
  }
  return NEXT[code] ?? null
}
