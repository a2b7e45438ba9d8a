const PLAN_FILE = /[\\/]plans[\\/][^\\/]+\.md$/

/** Whether a path is a plan in Gemini CLI's own plans folder, the only place its plan mode writes to. */
export function isPlanFile(path: unknown): boolean {
  return typeof path === 'string' && PLAN_FILE.test(path)
}
