import { chromium } from 'playwright-core'
const b=await chromium.launch({executablePath:'/usr/bin/chromium',args:['--no-sandbox','--headless']})
const p=await b.newPage();p.on('pageerror',e=>console.log('ERR',e));p.on('response',r=>/artifacts/.test(r.url())&&console.log(r.status(),r.headers()['content-range']))
await p.goto(process.argv[2])
for(let i=0;i<8;i++){await p.waitForTimeout(1000);console.log(await p.evaluate(()=>{const l=document.querySelector('#terminal .lines');return [l.querySelectorAll('.line').length,l.textContent.slice(0,16),l.textContent.slice(-30),[...l.querySelectorAll('.line')].at(-1)?.id]}))}
await b.close()
