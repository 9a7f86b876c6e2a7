import { readFileSync } from "node:fs";
import { defineConfig } from "vite";

/** Shudan's wood is a picture of 190 kB, more than all the rest of the page; the board has a plain colour instead. */
const withoutWood = {
  name: "without-wood",
  enforce: "pre",
  transform(code, id) {
    return id.includes("shudan/css/goban.css") ? code.replace("url('./board.png')", "") : null;
  },
};

/** What the built page contains of others goes with their licences. */
const withLicences = {
  name: "with-licences",
  generateBundle() {
    const read = (name) => `${name}\n\n${readFileSync(`node_modules/${name}/LICENSE`, "utf8").trim()}\n`;
    const source = ["preact", "@sabaki/shudan", "classnames"].map(read).join("\n\n");
    this.emitFile({ type: "asset", fileName: "licences.txt", source });
  },
};

export default defineConfig({
  base: "./",
  plugins: [withoutWood, withLicences],
  esbuild: { jsx: "automatic", jsxImportSource: "preact" },
  build: {
    outDir: "../mini_alphago/web/static",
    emptyOutDir: true,
    assetsInlineLimit: 0, // the page's content policy allows files of its own server and no data: addresses
    modulePreload: { polyfill: false },
    target: "es2022",
  },
  server: {
    proxy: {
      "/api": "http://127.0.0.1:8123",
      "/ws": { target: "ws://127.0.0.1:8123", ws: true },
    },
  },
});
