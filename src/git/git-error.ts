/** Git failed, or was ended. The message is one line, which begins with the command. */
export class GitError extends Error {
  override name = 'GitError'
}

/** The error for what git said: with what to do if the repository is damaged. */
export function gitFailed(command: string, stderr: string): GitError {
  const said = Array.from(stderr.matchAll(/^(?:fatal|error): (.+)/gm), ([, what]) => what!)
  const what =
    said.length > 2
      ? `${said[0]}; ${said.at(-1)}`
      : said.join('; ') || stderr.trim().split('\n', 1)[0]
  return new GitError(`git ${command} failed: ${what}${adviceFor(stderr)}`)
}

const ADVICE: [damage: RegExp, advice: string][] = [
  [
    /index file|bad signature 0x|index uses/,
    '.git/index is damaged: remove it, then run git reset, which makes it again',
  ],
  [
    /inflate|corrupt|unable to unpack|unable to read (?:tree|sha1)|Could not read|missing (?:object|blob|tree|commit)|bad (?:tree )?object|loose object/,
    'an object of the repository is missing or damaged: git fsck names it; fetch or copy it from another clone',
  ],
  [
    /not a git repository|HEAD is not valid|bad config/,
    '.git is damaged: its HEAD, config, refs or objects are missing or not valid; put them back',
  ],
]

/** Empty if the repository is not what is wrong. */
function adviceFor(stderr: string): string {
  const [, advice] = ADVICE.find(([damage]) => damage.test(stderr)) ?? []
  return advice === undefined ? '' : ` (${advice})`
}
