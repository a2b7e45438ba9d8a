import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import t from 'tap'
import { isProposal } from '../../src/runners/proposal.ts'
import { whyNotReading } from '../../src/runners/reading/commands.ts'
import { isLong } from '../fixtures/full.ts'
import { randomFrom } from '../fixtures/random.ts'

/** One command after the other, between bars or on lines of their own. A line that begins with a blank goes on with the one before. */
const list = (text: string) => text.trim().split(/\n(?! )| ¦ /)

const READING = list(String.raw`
sed -n 1,5p a.txt ¦ sed -n '1,120p' src/a.ts ¦ sed -ne '/^export/p' -e '$=' a.ts
sed -n '/start/,/end/{p;d}; 40q' a.ts ¦ sed 's/[[:space:]]*$//; s/a\/b/c/gI' a.ts ¦ sed --quiet --expression=1p a.ts
find . -name x ¦ find . -name *.ts -not -path "*/node_modules/*" -type f
find . \( -name '*.js' -o -name '*.ts' \) -newer a -print0 ¦ find . -name '*test*' -maxdepth 2 -size +1k
sort a.txt ¦ sort -t: -k2,2nr a.txt | uniq -c | sort -rn | head -20 ¦ tree ¦ tree -L 2 -I 'node_modules|dist'
git branch ¦ git branch -a ¦ git branch -vv --sort=-committerdate ¦ git branch --sort -committerdate
git branch --list 'feat/*' ¦ git branch --contains HEAD~3 ¦ git branch --merged main ¦ git branch --show-current
git remote -v ¦ git remote show origin ¦ git stash list ¦ git stash show -p stash@{0} ¦ git tag ¦ git tag -l 'v1.*'
git tag -n5 ¦ git config --get user.name ¦ git config user.name ¦ git config --list --show-origin
git worktree list ¦ git submodule status --recursive ¦ git reflog -5 ¦ git -C sub log --oneline
git --no-pager log --oneline | head -5 2>&1 ¦ git show HEAD@{1}:a.js ¦ git diff main...HEAD -- src/
git log --output-indicator-new=x -SFOO ¦ git log -p --follow -- 'a b.ts' ¦ git grep -n TODO
git ls-files | xargs wc -l ¦ git ls-files -z | xargs -0 -n 10 grep -l foo ¦ git status --short --branch
git rev-parse --show-toplevel ¦ git for-each-ref --format='%(refname)' ¦ npm ls --depth=0 ¦ npm view zod version
npm --version && node --version ¦ npm outdated ¦ python3 -V ¦ cargo --version ¦ go version ¦ go env GOPATH
yarn why zod ¦ pip list ¦ gh pr view 12 --json title ¦ date ¦ date +%Y-%m-%d ¦ date -u -d '2 days ago' +%s
uniq -c a.txt ¦ uniq -f 1 a.txt ¦ xxd -l 64 -c 8 a.bin ¦ column -t a.txt ¦ nl -ba a.ts ¦ tac a.txt ¦ comm -12 a b
jq '.scripts | keys' package.json ¦ jq '.a > 1' f.json ¦ yq .a f.yml ¦ file a.bin ¦ sha256sum a.bin ¦ hostname ¦ env
env | grep NODE ¦ printenv PATH ¦ uptime; free -m ¦ which node; type node; command -v node ¦ test -f a && echo yes
[ -d src ] && ls src || echo none ¦ [[ -f a.txt ]] && [[ -n "$HOME" ]] ¦ if [ -f a ]; then cat a; else echo no; fi
for f in src/*.ts a.js; do echo "== $f"; head -5 "$f"; done ¦ git ls-files | while read -r f; do wc -l "$f"; done
rg -n 'foo|bar' src -g '*.ts' ¦ rg --files --hidden ¦ rg '\$\(' src ¦ fd -e ts . src ¦ bat --paging=never -p a.ts
awk '{print $1}' a.txt ¦ awk -F: 'NR>=10 && NR<=20 || $1 ~ /x/ {print $2}' a.txt ¦ less a.txt
cd src && ls -la 2>/dev/null ¦ grep -rn 'foo|bar' src; cat "$F" # it's all ¦ cat a.txt | tr a-z A-Z | cut -d' ' -f1
cat < a.txt ¦ wc -l <<< "some text" ¦ ls *.ts src/{a,b} ¦ ls $(git rev-parse --show-toplevel)
cd "$(git rev-parse --show-toplevel)" && ls ¦ diff a b > /dev/null; echo $? ¦ ls a &>/dev/null
ls a >/dev/null 2>&1 ¦ /bin/ls -l ¦ /usr/bin/git status ¦ bash -lc 'sed -n 1,5p a.txt'
/bin/bash -lc "cat '/project/app.js'" ¦ bash -lc "rg --files | head -50" ¦ sh -c 'ls; sh -c "cat a"'
timeout 10 grep -r foo . ¦ time ls ¦ printf '%s\n' "a b" *.ts ¦ echo 'a;b' "c && d" \; \> ¦ sleep 1; echo x
(cd src; ls) | head ¦ echo broken; exit 3 ¦ node --version ¦ base64 -d a.txt ¦ ag -n foo ¦ iconv -f utf8 a
shuf -n 3 a ¦ pushd src && ls; popd ¦ env ¦ npm config get registry ¦ pnpm why zod ¦ stat a; readlink -f a
git cat-file -p HEAD ¦ git blame a.ts ¦ git notes list ¦ git bisect log ¦ git ls-remote --tags origin
nice -n 10 ls ¦ timeout 5s cat a ¦ less -N a ¦ printf "%d\n" 1 ¦ read -r line ¦ head -c 10 a > /dev/null
awk -v n=3 'NR==n' a ¦ go env ¦ gh issue list ¦ xxd a ¦ date --iso-8601 ¦ find -maxdepth 1 ¦ git stash list
yq .a f; yq -o json f ¦ tr a b | rev ¦ ls | xargs -n1 -P 4 cat ¦ ls | xargs -I X cat X
until test -f a; do sleep 1; done ¦ while read -r line; do echo "$line"; done < a ¦ ls \
  -la
`)

const WRITING = list(String.raw`
git ¦ git config a.b c ¦ git config --add a.b c ¦ git config edit ¦ git config --global --unset a.b
git config --type --get a.b c ¦ git config -f --get a.b c ¦ git -c core.pager=x log ¦ git --exec-path=. log
git --git-dir=evil.git log ¦ git -p log ¦ git grep -lOsh limit ¦ git grep --open=sh limit ¦ git grep -O limit
git grep -{l,Osh} limit ¦ git log -1 --outp=x ¦ git diff --output=x ¦ git diff --ext-diff ¦ git log --textconv
git stash ¦ git stash pop ¦ git stash list --output=x ¦ git branch x ¦ git branch -D x ¦ git branch -d x
git branch -m a b ¦ git branch --list -D x ¦ git branch --sort --list x ¦ git branch -v x
git branch -u origin/main ¦ git branch --set-upstream-to=x ¦ git branch --edit-description ¦ git tag v1
git tag -d v1 ¦ git tag -a v1 -m x ¦ git remote add x y ¦ git remote -v update ¦ git remote remove x
git reflog expire --all ¦ git reflog -5 expire --all ¦ git worktree add x ¦ git submodule update
git submodule foreach ls ¦ git ls-remote ext::sh ¦ git fetch ¦ git checkout . ¦ git restore . ¦ git constructor
git push --force ¦ git log $X ¦ git diff $(cat list) ¦ sed -i s/a/b/ f ¦ sed -n -i p f ¦ sed -ni p f
sed --in-place p f ¦ sed --in-pl p f ¦ sed -n 'w x' f ¦ sed -n '1w x' f ¦ sed '1e' f ¦ sed '1e touch x' f
sed 's/a/touch x/e' f ¦ sed 's/a/b/w x' f ¦ sed 's/a/b/gw x' f ¦ sed -n '/a/{p;w x' f ¦ sed 's/[/]/w x/;s/]/b/w y' f
sed 's|a|b|w x' f ¦ sed -f script f ¦ sed -e p -e 'w x' f ¦ sed -e'w x' f ¦ sed -ne 'w x' f
sed --expression='w x' f ¦ sed "$X" f ¦ sed -n 1p $X ¦ sed -n 1p * ¦ sed p f -i ¦ sed -s -i p f
awk 'BEGIN{system("touch x")}' ¦ awk '{print > "x"}' f ¦ awk '{print | "sh"}' f ¦ awk '{printf "a" >> "x"}' f
awk 'BEGIN{"touch x" | getline}' ¦ awk 'BEGIN{f="sys" "tem"; @f("x")}' ¦ awk -f prog f ¦ awk -i inplace '{print}' f
awk -v a=1 -i inplace '{print}' f ¦ awk '{print}' -i f ¦ awk "$X" f ¦ gawk -o '{print}' f ¦ sort -o f f
sort -ro f f ¦ sort f -o f ¦ sort -of f ¦ sort --output=f f ¦ sort --outp f f ¦ sort --o=f f ¦ sort -T x f
sort --compress-program=./x f ¦ sort -t -- -o f ¦ sort $X ¦ sort * ¦ sort {-o,f} f ¦ sort {x{a,b},-o,f} f
sort "-o" f ¦ sort -"o" f ¦ sort \-o f ¦ uniq a b ¦ uniq -c a b ¦ uniq src/* ¦ uniq -f 1 a b ¦ uniq -- a b ¦ xxd a b
xxd -r a ¦ xxd -p -r a b ¦ tree -o x ¦ tree -R -L 1 ¦ tree -ao x ¦ find . -delete ¦ find . -exec rm {} +
find . -execdir rm {} \; ¦ find . -ok rm {} \; ¦ find . -okdir rm {} \; ¦ find . -fprint x ¦ find . -fprintf x y
find . -fls x ¦ find . -name a -"delete" ¦ find . $X ¦ find . -name * ¦ find . -d{elete,x} ¦ fd -x rm
fd . --exec rm ¦ fd . -HX rm ¦ fd --exec-batch=rm ¦ rg --pre=sh a ¦ rg --pre ./x a ¦ rg --p{re=sh,x} a
rg --hostname-bin=./x a ¦ bat --pager=./x a ¦ bat cache --build ¦ less +!touch a ¦ less -o x a ¦ less '+!touch x' a
file -C -m x ¦ yq -i .a=1 f ¦ shuf -o x f ¦ date -s tomorrow ¦ date --set=tomorrow ¦ date 01010000 ¦ date -us x
hostname x ¦ env ls ¦ env FOO=1 ls ¦ env -S 'ls' ¦ env -i ls ¦ A=1 ls ¦ PATH=. ls ¦ IFS=, ls ¦ X=1 ¦ export X=1
ls | xargs rm ¦ ls | xargs -I{} sh -c '{}' ¦ ls | xargs sed -n p ¦ ls | xargs git log ¦ ls | xargs -0 sort
ls | xargs ¦ ls | xargs -a f cat ¦ echo a > 1 ¦ echo a>f ¦ echo a >> f ¦ echo a >| f ¦ echo a &> f ¦ echo a &> 0
echo a >& f ¦ echo a 2>&1 >f ¦ cat a <>1 ¦ cat >f ¦ > f ¦ < f ¦ cat <<EOF ¦ ls &>/dev/null rm y ¦ ls | tee f
dd if=a of=b ¦ cp a b ¦ mv a b ¦ touch a ¦ mkdir a ¦ rm a ¦ ln -s a b ¦ truncate -s 0 a ¦ command rm a
command -p ls ¦ exec ls ¦ eval ls ¦ . ./x ¦ source x ¦ time rm a ¦ time -o x ls ¦ nohup ls ¦ timeout 5 rm a
timeout -s KILL 5 ls ¦ sudo ls ¦ busybox ls ¦ nice rm a ¦ builtin eval x ¦ coproc ls ¦ ./cat a ¦ bin/ls ¦ ../ls
~/bin/ls ¦ node_modules/.bin/tsc --version ¦ ./node --version ¦ /tmp/ls ¦ ./bash -lc 'ls' ¦ $X a ¦ "$X" a ¦ l{s,x} a
l? a ¦ * ¦ npm test ¦ npm install ¦ npm exec x ¦ npm run build ¦ npm ls --logs-dir=src ¦ npm config set a b ¦ npx x
yarn list ¦ pip install x ¦ go build ./... ¦ go env -w X=1 ¦ go env --w X=1 ¦ gh pr view --web ¦ gh pr merge 1
python -v ¦ python x.py ¦ python -c 'x' ¦ node -e 'x' ¦ node x.js ¦ cargo build ¦ make ¦ curl https://example.com
bash x.sh ¦ bash -c 'touch x' ¦ bash -lc "rm a" ¦ bash -c "ls $X" ¦ bash -c ls\ '; rm x' ¦ sh -c 'ls' && rm a
zsh -ic 'ls' ¦ ls; rm a ¦ ls && rm a ¦ ls || rm a ¦ ls | rm a ¦ ls & rm a ¦ ls $(rm a) ¦ ls "$(rm a)"
ls ${'`'}rm a${'`'} ¦ ls "${'`'}rm a${'`'}" ¦ ls <(rm a) ¦ find . <(ls)cat -delete ¦ ls >(rm a) ¦ ls $((1+1))
ls $[1+1] ¦ ls ${'$'}{a:=b} ¦ echo ${'$'}{a@P} ¦ echo $x[1] ¦ echo \ #; touch x ¦ echo $'\''; touch x; echo $'\''
echo $'a' $"b" ¦ printf -v a x ¦ printf -v a '\x24(touch x)'; echo ${'$'}{a@P} ¦ printf '%d' 'a[$(touch x)]'
test -v 'a[$(touch x)]' ¦ [ 'a[$(touch x)]' -eq 1 ] ¦ [ PATH=1 -eq 1 ] ¦ [[ $X -eq 1 ]] ¦ [[ -f a ]] rm x
[[ -f a ]] { rm x } ¦ exit 'a[$(touch x)]' ¦ ls } always { rm x } ¦ ls *(e:'rm x':) ¦ ls() { rm a; }; ls
function ls { rm a; } ¦ for PATH in .; do ls; done ¦ for path in .; do ls; done ¦ for f in -o; do sort "$f" x; done
for f in 'a[$(rm x)]'; do ls; done ¦ for f in a; do rm $f; done ¦ for f in a; do ls; done rm x
select f in a; do ls; done ¦ case a in a) rm x;; esac ¦ while true; do rm a; done ¦ read PATH ¦ read -r LD_PRELOAD
if rm a; then ls; fi ¦ ! rm a ¦ { rm a; } ¦ { ls; } ¦ alias ls=rm ¦ ls\nrm ¦ Get-Content a ¦ LS ¦ cat a
node --version x.js ¦ npm -v install ¦ python3 -V x.py ¦ git cat-file --filters HEAD:a ¦ git log --ext-grep=x
git -C $X log ¦ git --no-pager push ¦ git show --outp=x ¦ git notes add ¦ git bisect start
git sparse-checkout set x ¦ git ls-remote --upload-pack=x y ¦ git submodule add x ¦ git config --get-all -f $X a
ag --pager=sh a ¦ base64 -o x a ¦ base64 --output=x a ¦ bat --generate-config-file ¦ bat --lessopen
batcat --pager x a ¦ fd -X rm ¦ fdfind --exec rm ¦ iconv -o x a ¦ iconv --output=x a ¦ shuf --output=x f
sort --temporary-directory=x f ¦ tree --output x ¦ tree -R ¦ yq -s .a f ¦ yq -w f ¦ yq --inplace .a f
yq --in-place .a f ¦ yq --split-exp .a f ¦ yq --security-enable-system-operator .a f ¦ npm view zod --cache x
npm ls --cache=x ¦ pip list --log x ¦ pip3 list --python x ¦ pip list --cache-dir x ¦ go version -u ¦ gh pr list -w
go env -u X ¦ pnpm install ¦ uniq -q a ¦ env -u X ¦ hostname -F x ¦ date -f x ¦ date +%s x
awk '{print $1 | "sh"}' f ¦ awk -E prog f ¦ awk 'BEGIN{print "x" >"y"}' f ¦ sed -n '1r x' f ¦ sed -n 'R x' f
sed -n '1W x' f ¦ sed --follow-symlinks -i p f ¦ find . -name "-delete" -exec sh {} + ¦ find . -ok?ir x
ls | xargs -a f ¦ ls | xargs --arg-file=f cat ¦ ls | xargs -p cat x | rm y ¦ timeout -k 5 5 ls ¦ timeout 5 ¦ nice
command ¦ command -v ls && rm x ¦ [ -v a ] ¦ test -R a ¦ [[ a -lt 1$(x) ]] ¦ exit x ¦ printf ¦ printf "%n" a[1]
printf -- x ¦ less -p x a ¦ less --log-file=x a ¦ more +/x a ¦ for in in a; do ls; done ¦ for f a; do ls; done
read -p x ¦ read -u 3 x ¦ cp a b > /dev/null ¦ ls > /dev/nullx ¦ ls 2>err ¦ dash -c "rm a"
/usr/local/bin/bash -c "rm a" ¦ ash -c "touch x" ¦ ksh -c "touch x" ¦ bash -c -x ls ¦ sh -c "ls"; sh a
`)

t.test('commands that only read may run', async (t) => {
  const denied = READING.filter((command) => whyNotReading(command) !== null)
  t.strictSame(denied, [])
})

t.test('commands that do more, and those of which it is not certain, may not', async (t) => {
  const passes = (command: string) => whyNotReading(command) === null
  t.strictSame(WRITING.filter(passes), [])
  const odd = [
    '',
    'ls\nrm a',
    'ls\r#; rm a',
    'ls\u00a0-l',
    'ls\u2028rm a',
    'ls\0rm',
    'ls\x1b[0m',
    'so\\\nrt -\\\no f f',
    'ca\\\nt a; r\\\nm a',
    "echo \\\\ # '\ntouch x #'",
    'cat <<EOF\n$(rm a)\nEOF',
    "sed 's/a/b/\nw x' f",
    'ls >#f\nrm a',
    'ls "a',
    "ls 'a",
    'ls `a',
    'ls $(a',
    'ls \\',
    'ls )',
    `${'sh -c "'.repeat(7)}ls`,
  ]
  t.strictSame(odd.filter(passes), [])
})

t.test('an intent for the own case may be handed in, alone and in the foreground', async (t) => {
  const passes = (command: string) => isProposal(command, '0123456789abcdef')
  const rest = "--intent 'Do a & b' --paths 'src/**' docs --commands 'npm test' --proof true"
  const own = `casefile start 01234567 ${rest}`
  const clear = [own, `${own}\n`, `${own} 2>&1`, 'casefile start --paths=a --intent=b 01234567']
  t.strictSame(
    clear.filter((each) => !passes(each)),
    [],
  )
  const unclear = [
    `${own} &`,
    `(${own} &)`,
    `(${own})`,
    `${own} & sleep 1`,
    `${own} &>/dev/null`,
    `${own} > a`,
    `${own} | cat`,
    `ls; ${own}`,
    `ls && ${own}`,
    `setsid ${own}`,
    `nohup ${own}`,
    `timeout 9 ${own}`,
    `sh -c "${own}"`,
    `X=$(${own})`,
    `PATH=. ${own}`,
    `${own} $X`,
    `casefile start fedcba98 ${rest}`,
    `casefile start 0123456 ${rest}`,
    `casefile start ${rest}`,
    `casefile start 01234567 89abcdef ${rest}`,
    'casefile start 01234567 --note --intent',
    'casefile start 01234567 --intent',
    'casefile start 01234567 --intent --paths a',
    'casefile start 01234567 --paths --intent a',
    'casefile start 01234567 --paths a',
    ...'--root=. --state-dir=. --memory-root=. --isolation=none --run-tests --note=a --yes --provider=claude -m --detach --'
      .split(' ')
      .map((option) => `${own} ${option}`),
  ]
  t.strictSame(unclear.filter(passes), [])
  t.ok(whyNotReading(own), 'it does not read')
})

t.test('the reason names the command', async (t) => {
  t.match(whyNotReading('ls && npm test -- --x'), /^"npm test -- --x" is not a command that/)
  t.equal(whyNotReading('ls > src/a'), 'it writes src/a')
  t.equal(whyNotReading('ls "'), 'it cannot be judged')
})

t.test('the operator can name more commands, by their first words', async (t) => {
  const allowed = ['npm test', 'make check']
  for (const command of [
    'npm test',
    'npm test -- --watch=false 2>&1 | tail -20',
    'cd a && make check',
    'if npm test; then ls; fi',
    "bash -lc 'npm test'",
  ]) {
    t.equal(whyNotReading(command, allowed), null, command)
  }
  for (const command of [
    'npm',
    'npm tests',
    'npm test && rm a',
    'npm test > log',
    'CI=1 npm test',
    'npm test $(rm a)',
    'npm te{st,x}',
  ]) {
    t.ok(whyNotReading(command, allowed), command)
  }
})

t.test('real shells change nothing by what passes', async (t) => {
  const pieces =
    String.raw`sort|-o|out|-ro|--outp=out|sed|-n|1p|-i|w out|1e|find .|-delete|-fprint out|ls|cat|a.txt|uniq|tee out|>|>>|out|touch out|>&|&>|<|'|"|\|$(|)|;|&&|(|{|}|,|$x|for x in -o out|;do|;done|if|;then|;fi|!|#|=|[|[[|]]|xargs|git|branch|made|tag|stash|config|a.b|-l|--list|*|{-o,out}|[[ 1 ]]|&|$'|sh -c`
      .split('|')
      .concat('|', '`', '\n', ' ', ' ', ' ', ' ', ' ', ' ', ' ')
  const random = randomFrom(11)
  const commands: string[] = []
  for (let tried = 0; commands.length < (isLong ? 400 : 60) && tried < 400_000; tried += 1) {
    const words = Array.from(
      { length: 2 + random() * 8 },
      () => pieces[(random() * pieces.length) | 0],
    )
    const command = words.join(random() < 0.7 ? ' ' : '')
    if (whyNotReading(command) === null && /out|made|-i|delete|touch/.test(command)) {
      commands.push(command)
    }
  }
  t.ok(commands.length >= 60, `${commands.length} commands`)
  const folder = t.testdir({ 'a.txt': 'touch out\nb\n' })
  const git = (...args: string[]) => execFileSync('git', args, { cwd: folder }).toString()
  git('init', '--quiet')
  const state = () => [
    readdirSync(folder).sort(),
    statSync(`${folder}/a.txt`).mtimeMs,
    git('config', '--list'),
    git('for-each-ref'),
  ]
  const before = state()
  const script = 'for c; do ( eval "$c" ) < /dev/null > /dev/null 2>&1; done; exit 0'
  for (const shell of isLong ? ['sh', 'bash', 'zsh'] : ['bash']) {
    if (!existsSync(`/bin/${shell}`)) continue
    execFileSync(shell, ['-c', script, shell, ...commands], { cwd: folder, timeout: 120_000 })
    t.strictSame(state(), before, shell)
    execFileSync(shell, ['-c', script, shell, 'sort -ro out a.txt'], { cwd: folder })
    t.not(state()[0]?.toString(), before[0]?.toString(), 'what is not allowed would have shown')
    rmSync(`${folder}/out`)
  }
  writeFileSync(`${folder}/a.txt`, '')
})
