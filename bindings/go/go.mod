module landtrace

go 1.18
