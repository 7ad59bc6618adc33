// Says of the page it is evaluated in: how wide it is, its sections, and what is
// wrong with it for people who read by ear, by keyboard or in poor light.
(() => {
  const wrong = [];
  const all = (selector) => [...document.querySelectorAll(selector)];
  const expect = (ok, text) => { if (!ok) wrong.push(text); };
  const where = (e) => `<${e.tagName.toLowerCase()}> "${e.textContent.trim().slice(0, 40)}"`;

  expect(document.documentElement.lang === 'en', 'the page has no language');
  expect(all('h1').length === 1, `the page has ${all('h1').length} headings of the first level`);
  let level = 0;
  for (const h of all('h1, h2, h3, h4')) {
    expect(+h.tagName[1] <= level + 1, `${where(h)} skips a level`);
    level = +h.tagName[1];
  }
  for (const th of all('th')) expect(th.scope === 'col' || th.scope === 'row', `${where(th)} has no scope`);
  for (const svg of all('svg')) {
    expect(svg.getAttribute('aria-hidden') === 'true' || svg.getAttribute('role') === 'img' && svg.getAttribute('aria-label'), `an svg in ${where(svg.parentElement)} has no label`);
  }
  for (const s of all('section')) expect(document.getElementById(s.getAttribute('aria-labelledby')), `${where(s)} has no label`);
  for (const a of all('a')) expect(document.querySelector(a.getAttribute('href')), `${where(a)} leads nowhere`);
  expect(all('script, link, img, iframe, object, embed, style[src]').length === 0, 'the page holds what could be loaded');

  // What is wider than its box must be in one that scrolls and can be reached by keyboard.
  for (const e of all('main *')) {
    if (e.closest('svg') || e.closest('.hidden')) continue;
    const right = e.getBoundingClientRect().right;
    if (right > innerWidth + 1) expect(e.closest('.scroll[tabindex="0"]'), `${where(e)} ends at ${right} of ${innerWidth}`);
  }
  // Marks and labels on a time line stay on it.
  for (const e of all('svg use, svg text')) {
    const box = e.getBoundingClientRect();
    expect(box.left >= -1 && box.right <= innerWidth + 1, `${where(e.closest('svg').parentElement)} has a mark at ${box.left}..${box.right}`);
  }

  const channel = (v) => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
  const rgb = (text) => text.match(/[\d.]+/g).map(Number);
  const light = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
  const behind = (e) => {
    for (; e; e = e.parentElement) {
      const c = rgb(getComputedStyle(e).backgroundColor);
      if (c.length === 3 || c[3] > 0) return c;
    }
    return [255, 255, 255];
  };
  const contrast = (a, b) => { const [x, y] = [light(a), light(b)].sort((p, q) => q - p); return (x + 0.05) / (y + 0.05); };
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let n; (n = texts.nextNode());) {
    const e = n.parentElement;
    if (!n.data.trim() || e.closest('title')) continue;
    const style = getComputedStyle(e);
    const c = contrast(rgb(e.closest('svg') ? style.fill : style.color), behind(e));
    expect(c >= 4.5, `${where(e)} has a contrast of ${c.toFixed(2)}`);
  }
  // The colours of heat get darker with each step, also in grey.
  let last = 2;
  const key = document.querySelector('.key');
  for (const i of key ? key.children : []) {
    const l = light(rgb(getComputedStyle(i).backgroundColor));
    expect(l < last * 0.93, `${i.className} is hardly darker than the one before`);
    last = l;
  }
  for (const use of all('svg use')) expect(contrast(rgb(getComputedStyle(use).fill), [255, 255, 255]) >= 3, `a mark of ${getComputedStyle(use).fill} is hardly seen`);

  return {
    Width: document.scrollingElement.scrollWidth,
    Inner: innerWidth,
    Sections: all('section').map((s) => s.id).join(' '),
    Wrong: [...new Set(wrong)].slice(0, 20),
  };
})()
