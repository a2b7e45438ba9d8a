/** Recognizes files that editors create while they save. */

const PATTERNS = [
  /^\./, // hidden: files of git, swap files of vim, the service's own
  /~$|\.(?:sw[a-z]|tmp|lock)$/,
  /^#.*#$/, // auto-save files of emacs
  /^4913$/, // vim tests with it whether it may create files
  /___jb_(?:tmp|old)___$/, // JetBrains
  /^sed[A-Za-z0-9]{6}$/,
]

/** Whether an editor, git or this service creates files with this name beside the real one. */
export function isEditorFile(name: string): boolean {
  return PATTERNS.some((pattern) => pattern.test(name))
}
