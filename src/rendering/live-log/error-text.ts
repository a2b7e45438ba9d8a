/** What programs print in place of an error: `0 errors`, `# fail 0`, `no failures`. */
const NONE =
  /\b(?:0|no|zero|without) (?:\w+ )?(?:errors?|fail(?:ed|ures?|s)?)\b|\b(?:errors?|fail(?:ed|ures?)?)\b["']?\s*(?:[:=]\s*)?0\b(?!\.\d)/gi

const ERROR =
  /\b(?:error|fatal|panic|panicked|traceback|failed|failure|segmentation fault|cannot find|command not found)\b|^\s*not ok\b|^\s*-{2,3} FAIL|\bFAIL\b|\bERR!|^\s*[✗✖✘×]\s/i

/** Names of classes. */
const CLASS = /[a-z](?:Error|Exception)\b/

/** More of a line is not looked at. */
const MAX_LENGTH = 2000

/** Pure. Whether a line of output looks like an error. */
export function looksLikeError(line: string): boolean {
  const text = line.slice(0, MAX_LENGTH)
  return CLASS.test(text) || (ERROR.test(text) && ERROR.test(text.replace(NONE, '')))
}
