/** Names of files that editors make while they save. */

const PATTERNS = [
  /^\./, // hidden: git's, vim's swap files, our own
  /~$|\.(?:sw[a-z]|tmp|lock)$/,
  /^#.*#$/, // emacs saves here by itself
  /^4913$/, // vim tries whether it may make files
  /___jb_(?:tmp|old)___$/, // JetBrains
  /^sed[A-Za-z0-9]{6}$/,
]

/** Whether a name is that of a file that an editor, git or this service keeps beside the one that is saved. */
export function isEditorFile(name: string): boolean {
  return PATTERNS.some((pattern) => pattern.test(name))
}
