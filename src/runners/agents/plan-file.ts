const PLAN_FILE = /[\\/]plans[\\/][^\\/]+\.md$/

/** Whether a path is that of a plan in Gemini CLI's own folder of plans, all that its plan mode writes. */
export function isPlanFile(path: unknown): boolean {
  return typeof path === 'string' && PLAN_FILE.test(path)
}
