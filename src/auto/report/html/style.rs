//! The style of the page: system fonts, light and dark, narrow screens, and paper.

/// The style sheet. It requests nothing.
pub(super) const STYLE: &str = r#"
:root{color-scheme:light dark;--paper:#fff;--sheet:#f6f7f9;--ink:#1a1f25;--soft:#56606b;--line:#d8dde3;--strong:#b3bcc6;
--link:#0b5394;--good:#17663a;--bad:#a3231a;--warn:#7a4b00;--calm:#31506f;--good-bg:#eaf5ee;--bad-bg:#fcefed;--warn-bg:#fdf5e4;
--calm-bg:#edf2f7;--work:#2b6cb0;--plan:#7c6bb0;--verify:#2a857c;--tint:#c9d3de;--band:#c4d7ec;--mark:#1a1f25;
--ins:#e5f4ea;--ins-ink:#12512b;--del:#fbe8e6;--del-ink:#7f1d15;--gap:#eceff2}
@media (prefers-color-scheme:dark){:root{--paper:#13171b;--sheet:#1b2026;--ink:#e2e6ea;--soft:#a0aab4;--line:#303740;
--strong:#55606c;--link:#85b8f2;--good:#74cb98;--bad:#f29a92;--warn:#e3b768;--calm:#a9c3de;--good-bg:#16281e;--bad-bg:#331d1b;
--warn-bg:#2d2515;--calm-bg:#1c2630;--work:#5f9fe0;--plan:#a796dd;--verify:#55b5aa;--tint:#3d4854;--band:#2f4a68;--mark:#f2f4f6;
--ins:#13301f;--ins-ink:#a9e2bd;--del:#3a1b18;--del-ink:#f4b9b3;--gap:#20262c}}
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%;text-size-adjust:100%}
body{margin:0;background:var(--paper);color:var(--ink);font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif;
font-variant-numeric:tabular-nums;overflow-wrap:anywhere}
.wide{max-width:1100px;margin:0 auto;padding:0 24px}
header.wide{padding-top:30px}
code,pre,kbd{font-family:ui-monospace,SFMono-Regular,"SF Mono",Menlo,Consolas,"Liberation Mono",monospace;font-size:.89em;unicode-bidi:isolate}
td,th,li,dd,p,summary{unicode-bidi:isolate}
a{color:var(--link);text-decoration-thickness:1px;text-underline-offset:2px}
:focus-visible{outline:2px solid var(--link);outline-offset:2px;border-radius:2px}
.over{margin:0;color:var(--soft);font-size:13px}
h1{font-size:27px;line-height:1.2;font-weight:650;letter-spacing:-.012em;margin:2px 0 14px;text-wrap:balance}
h2{font-size:18px;line-height:1.3;font-weight:650;letter-spacing:-.005em;margin:0 0 12px}
h3{font-size:15px;font-weight:650;margin:22px 0 8px}
section{margin-top:34px;padding-top:18px;border-top:1px solid var(--line)}
p{margin:0 0 10px;max-width:76ch}
.soft{color:var(--soft)}.small{font-size:13px}
.good{color:var(--good)}.bad{color:var(--bad)}.warn{color:var(--warn)}.calm{color:var(--calm)}
.sign{display:inline-block;min-width:1.1em;font-weight:700}
.state{border-left:4px solid;padding:10px 16px;margin:0 0 12px;border-radius:0 4px 4px 0}
.state.good{background:var(--good-bg)}.state.bad{background:var(--bad-bg)}.state.warn{background:var(--warn-bg)}.state.calm{background:var(--calm-bg)}
.state p{margin:0;max-width:none;font-size:17px;line-height:1.4}.state b{font-weight:650}
.state .about{color:var(--ink);font-size:14px;margin-top:3px}
.state ul{margin:6px 0 0;padding-left:1.2em;color:var(--ink);font-size:14px}
.next{display:flex;flex-wrap:wrap;align-items:baseline;gap:4px 12px;margin:0 0 12px;padding:8px 16px;border:1px solid var(--line);border-radius:4px;max-width:none}
.next b{font-weight:600;color:var(--soft)}.next code{font-size:14px;user-select:all}
.figures{display:grid;grid-template-columns:repeat(5,minmax(0,1fr));margin:18px 0 0;border:1px solid var(--line);border-radius:4px;overflow:hidden;background:var(--line);gap:1px}
.figures div{background:var(--paper);padding:10px 14px 11px;display:flex;flex-direction:column}
.figures dt{color:var(--soft);font-size:13px}.figures dd{margin:0}
.figures .value{font-size:23px;line-height:1.25;font-weight:600;letter-spacing:-.01em}
.figures .note{color:var(--soft);font-size:12.5px;line-height:1.35}
.facts{display:grid;grid-template-columns:repeat(2,minmax(0,1fr));gap:3px 32px;margin:16px 0 0;font-size:14px}
.facts div{display:grid;grid-template-columns:84px minmax(0,1fr);gap:10px}
.facts dt{color:var(--soft)}.facts dd{margin:0}
nav{margin-top:18px;font-size:14px}
nav ul{list-style:none;margin:0;padding:0;display:flex;flex-wrap:wrap;gap:2px 18px}
nav a{display:inline-block;padding:3px 0}
table{border-collapse:collapse;width:100%;font-size:14px}
caption{text-align:left;color:var(--soft);font-size:13px;padding:0 0 6px}
th,td{text-align:left;vertical-align:baseline;padding:5px 14px 5px 0;border-bottom:1px solid var(--line);font-weight:400}
thead th{color:var(--soft);font-size:12.5px;border-bottom-color:var(--strong);vertical-align:bottom;white-space:nowrap}
th:last-child,td:last-child{padding-right:0}
.n{text-align:right;white-space:nowrap}
.nw{white-space:nowrap}td.nw{width:17em}.draws td.nw{width:auto}
tbody th{min-width:6.5em}tbody th .t{color:var(--soft)}
table+h3,table+table,.scroll+table{margin-top:22px}
.gap{margin-top:22px}
.bar{display:flex;align-items:center;gap:8px;min-width:90px}
.bar i{flex:1;height:8px;background:var(--gap);border-radius:1px;overflow:hidden}.bar i i{display:block;height:8px;background:var(--work);min-width:1px}
.bar span{min-width:3.4em;text-align:right}
.share{width:23%}.draw{width:32%;min-width:120px;vertical-align:middle}
svg{display:block}svg text{font:11px system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif;fill:var(--soft)}
.draw svg{overflow:visible}
.s-track{fill:var(--gap)}.s-band{fill:var(--band)}.s-likely{fill:var(--work)}.s-mark{fill:var(--mark);stroke:var(--paper);stroke-width:1.5}
.s-work{fill:var(--work)}.s-plan{fill:var(--plan)}.s-verify{fill:var(--verify)}
.s-lost{fill:var(--paper);stroke-width:1.5;stroke-dasharray:3 2}.s-lost.thin{stroke-dasharray:none;stroke-width:1}.s-lost.work{stroke:var(--work)}.s-lost.plan{stroke:var(--plan)}.s-lost.verify{stroke:var(--verify)}
.s-run{stroke-width:1.5}.s-run.work{fill:var(--band);stroke:var(--work)}.s-run.plan{fill:var(--band);stroke:var(--plan)}.s-run.verify{fill:var(--band);stroke:var(--verify)}
.s-tint{fill:var(--tint)}.s-span{fill:var(--strong)}.s-grid{stroke:var(--line)}.s-row{fill:var(--sheet)}.s-gap{fill:var(--gap)}.s-edge{stroke:var(--strong);stroke-dasharray:2 3}
figure{margin:0}
.gantt{display:grid;grid-template-columns:max-content minmax(0,1fr);column-gap:12px}
.gantt ol{list-style:none;margin:0;padding:0;font-size:12px;color:var(--soft);max-width:11em}
.gantt li{white-space:nowrap;overflow:hidden;text-overflow:ellipsis}
.gantt.dense li{font-size:9px}
.key{list-style:none;display:flex;flex-wrap:wrap;gap:2px 18px;margin:10px 0 0;padding:0;font-size:13px;color:var(--soft)}
.key li{display:flex;align-items:center;gap:6px}
figcaption{color:var(--soft);font-size:13px;margin-top:6px}
.pairs{display:grid;grid-template-columns:84px minmax(0,1fr);gap:4px 14px;margin:0}.pairs dt{color:var(--soft)}.pairs dd{margin:0}
.plus{color:var(--good)}.minus{color:var(--bad)}
details.unit{border-top:1px solid var(--line)}details.unit:last-of-type{border-bottom:1px solid var(--line)}
summary{padding:6px 0}
details.unit>summary{display:grid;grid-template-columns:1em 11em minmax(0,1fr) auto;gap:2px 12px;align-items:baseline;list-style:none}
summary::-webkit-details-marker{display:none}
details.unit>summary::before,details.more>summary::before{content:"+";color:var(--soft);font-family:ui-monospace,Menlo,Consolas,monospace}
details.more>summary{list-style:none;display:flex;gap:12px;color:var(--link)}
details[open].unit>summary::before,details[open].more>summary::before{content:"\2212"}
summary .id{font-weight:600}summary .meta{color:var(--soft);font-size:13px;text-align:right}summary .sign{margin-right:.3em}
.body{padding:2px 0 16px 2em;font-size:14px;scroll-margin-top:60px}
.body h4{font-size:13px;font-weight:600;color:var(--soft);margin:12px 0 4px}
.plain{list-style:none;margin:0;padding:0}.plain>li{padding:4px 0 5px}
.files{color:var(--soft);font-size:13px}
.why{white-space:pre-wrap;border-left:2px solid var(--strong);padding:2px 0 2px 10px;margin:4px 0;max-height:22em;overflow:auto}
pre{margin:0;background:var(--sheet);border:1px solid var(--line);border-radius:4px;padding:8px 0;overflow:auto;max-height:34em;font-size:12.5px;line-height:1.45;tab-size:4;overflow-wrap:normal}
pre ins,pre del,pre span{display:block;width:max-content;min-width:100%;padding:0 12px;text-decoration:none}
pre ins{background:var(--ins);color:var(--ins-ink)}pre del{background:var(--del);color:var(--del-ink)}pre .h{color:var(--soft);font-weight:600}
.log{list-style:none;margin:0;padding:0;font-size:14px}
.log li{display:grid;grid-template-columns:5.2em minmax(0,1fr);gap:12px;padding:2px 0}.log .day{display:block;font-weight:600;padding-top:10px}
.log .at{color:var(--soft)}
.scroll{overflow-x:auto}
.paper{display:none}
footer.wide{color:var(--soft);font-size:13px;padding-bottom:36px}footer p{max-width:none;margin:40px 0 0;padding-top:14px;border-top:1px solid var(--line)}
@media (max-width:760px){
body{font-size:15px}.wide{padding:0 16px}header.wide{padding-top:20px}h1{font-size:23px}
.figures{grid-template-columns:repeat(2,minmax(0,1fr))}.figures div:first-child{grid-column:1/-1}.figures .value{font-size:20px}
.facts{grid-template-columns:minmax(0,1fr)}
.stack,.stack caption,.stack tbody,.stack tr,.stack th,.stack td{display:block}
.stack thead{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
.stack tr{display:flex;flex-wrap:wrap;gap:0 14px;padding:7px 0;border-bottom:1px solid var(--line)}
.stack th,.stack td,.stack td.nw{border:0;padding:0;text-align:left;width:auto}.stack tbody th{flex:1 0 100%}
.stack td::before{content:attr(data-l) " ";color:var(--soft);font-size:12.5px}
.stack .share,.stack .draw{flex:1 0 100%;width:auto}.stack .share::before,.stack .draw::before{content:none}
.stack td:empty{display:none}
.gantt{column-gap:8px}.gantt ol{max-width:88px;font-size:11px}.alt{display:none}
details.unit>summary{grid-template-columns:1em minmax(0,1fr)}summary .id{grid-column:2}summary .name,summary .meta{grid-column:2;text-align:left}
.body{padding-left:0}.log li{grid-template-columns:4.6em minmax(0,1fr);gap:8px}
}
@media print{
:root{color-scheme:light;--paper:#fff;--sheet:#f6f7f9;--ink:#000;--soft:#444c55;--line:#ccd2d8;--strong:#8d98a3;--link:#000;
--good:#17663a;--bad:#a3231a;--warn:#7a4b00;--calm:#31506f;--good-bg:#fff;--bad-bg:#fff;--warn-bg:#fff;--calm-bg:#fff;
--work:#2b6cb0;--plan:#7c6bb0;--verify:#2a857c;--tint:#c9d3de;--band:#c4d7ec;--mark:#000;--gap:#eceff2}
@page{margin:16mm 14mm}
body{font-size:9.5pt;print-color-adjust:exact;-webkit-print-color-adjust:exact}.wide{max-width:none;padding:0}nav,.screen{display:none}
table,.log,.body,.facts,.key,figcaption,caption,thead th,.small,.over{font-size:8.5pt}.figures .value{font-size:12pt}.figures .note,.figures dt,code{font-size:8pt}th,td{padding:3px 10px 3px 0}section{margin-top:22px;padding-top:12px}
a{text-decoration:none}.paper{display:block}
section.sheet{break-before:page;border-top:0;margin-top:0;padding-top:0}
h2,h3,h4,caption,summary,.body>p:first-child{break-after:avoid}tr,.figures,.state,.next,details.unit>summary,.plain>li,figure,.draws{break-inside:avoid}thead{display:table-header-group}
.scroll{overflow:visible}.why{max-height:none;overflow:visible}pre{display:none}
details::details-content{content-visibility:visible;display:block;height:auto}
summary::before{content:none!important}details.unit>summary{grid-template-columns:11em minmax(0,1fr) auto}details.more>summary{display:none}
.body{padding-left:0}
}
"#;
