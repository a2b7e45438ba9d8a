const PASSED = /^(?:PATH|HOME|USER|LOGNAME|SHELL|LANG|LC_[A-Z]+|TERM|TMPDIR|TZ|XDG_[A-Z_]+)$/

export interface StepEnvironment {
  env: Record<string, string>
  /** Names that were not passed on; a failed step tells them, since one may be what it missed. */
  withheld: string[]
}

/** What a step may see of the service's environment (design §6), and the marks of its run. */
export function stepEnvironment(
  service: NodeJS.ProcessEnv,
  run: { mark: string; case_id: string; session_id: string },
): StepEnvironment {
  const names = Object.keys(service).filter((name) => service[name] !== undefined)
  const passed = names.filter((name) => PASSED.test(name))
  return {
    env: {
      ...Object.fromEntries(passed.map((name) => [name, service[name]!])),
      CASEFILE_RUN: run.mark,
      CASEFILE_CASE: run.case_id,
      CASEFILE_SESSION: run.session_id,
    },
    withheld: names.filter((name) => !PASSED.test(name) && !name.startsWith('npm_')).sort(),
  }
}
