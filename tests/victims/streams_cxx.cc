// C++ streams on files and on the standard ones, tied to stdio and not.
//
//   streams_cxx FOLDER        standard input is a file of numbers, one a line
#include <cstdio>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    const std::string folder = argv[1];
    long sum = 0, n;
    for (int i = 0; i < 500 && std::cin >> n; i++)
        sum += n;
    std::cout << "sum " << sum << std::endl;
    std::cerr << "a complaint" << std::endl;
    std::clog << "a remark\n";
    std::printf("from printf\n");
    for (int i = 0; i < 2000; i++)
        std::cout << i << (i % 10 ? ' ' : '\n');

    std::ofstream out(folder + "/written");
    for (int i = 0; i < 5000; i++)
        out << "line " << i << '\n';
    out.close();
    std::ifstream in(folder + "/written");
    std::string line;
    size_t lines = 0;
    while (std::getline(in, line))
        lines++;
    std::fstream both(folder + "/text");
    both.seekg(100);
    both >> line;
    both.seekp(10);
    both << "over";
    std::cout << lines << '\n';
    std::ios::sync_with_stdio(false);
    std::cout << "not tied\n";
    return 0;
}
