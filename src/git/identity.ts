import { runGit } from './run-git.ts'

/** Returns variables that name the user as git knows them; Casefile if git knows no user. */
export async function gitIdentity(cwd: string): Promise<Record<string, string>> {
  const given = Object.entries(process.env).filter(([name]) =>
    /^GIT_(?:AUTHOR|COMMITTER)_(?:NAME|EMAIL)$/.test(name),
  ) as [string, string][]
  const env = Object.fromEntries(given)
  const known = await runGit(['var', 'GIT_COMMITTER_IDENT'], { cwd, env })
  const author = await runGit(['var', 'GIT_AUTHOR_IDENT'], { cwd, env })
  if (known.exit === 0 && author.exit === 0) return env
  const [name, email] = ['Casefile', 'casefile@localhost']
  return {
    GIT_AUTHOR_NAME: name,
    GIT_AUTHOR_EMAIL: email,

    GIT_COMMITTER_NAME: name,
    GIT_COMMITTER_EMAIL: email,
  }
}
