// Texts of the page whose contrast with their ground is below AA (4.5), with the ratio.
() => {
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = 1;
  const paint = canvas.getContext("2d", { willReadFrequently: true });
  const rgba = (text) => {
    paint.clearRect(0, 0, 1, 1);
    paint.fillStyle = text;
    paint.fillRect(0, 0, 1, 1);
    return [...paint.getImageData(0, 0, 1, 1).data];
  };
  const over = (top, base) => base.map((c, i) => (top[i] * top[3]) / 255 + c * (1 - top[3] / 255));
  const linear = (v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
  const light = ([r, g, b]) => 0.2126 * linear(r / 255) + 0.7152 * linear(g / 255) + 0.0722 * linear(b / 255);
  const faint = [];
  for (const one of document.querySelectorAll("body *")) {
    const own = [...one.childNodes].filter((node) => node.nodeType === 3);
    const said = own.map((node) => node.textContent.trim()).join("");
    const seen = one.checkVisibility({ visibilityProperty: true }) && !one.closest(".unseen, .skip, template");
    if (!said || !seen) continue;
    const layers = [];
    for (let at = one; at; at = at.parentElement) layers.unshift(rgba(getComputedStyle(at).backgroundColor));
    const ground = layers.reduce((base, layer) => over(layer, base), [255, 255, 255]);
    const ink = over(rgba(getComputedStyle(one).color), ground);
    const [a, b] = [light(ink), light(ground)].sort((x, y) => y - x);
    const ratio = (a + 0.05) / (b + 0.05);
    if (ratio < 4.5) faint.push(`${said.slice(0, 30)} .${one.className} ${ratio.toFixed(2)}`);
  }
  return faint;
}
